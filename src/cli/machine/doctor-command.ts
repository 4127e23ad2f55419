/** `causeway doctor`: looks at the machine and the settings, and says what stands in the way of the service. */
import { Command } from 'commander';
import type { CliContext } from '../command/context.ts';
import type { DoctorFinding } from '../command/doctor-finding.ts';
import { addSettings, givenSettings, type Options } from '../command/options.ts';
import { formatTable } from '../command/output.ts';

export function doctorCommand(context: CliContext, onExitCode: (code: number) => void): Command {
  return addSettings(new Command('doctor'), context, undefined)
    .description(
      'check this machine and the settings, whether the service runs or not; ends with 1 if it finds a problem',
    )
    .option('--json', 'print the findings as JSON')
    .action(async (options: Options) => {
      const findings = await context.examine(givenSettings(context, options));
      if (options['json'] === true) context.print(JSON.stringify(findings, undefined, 2));
      else for (const line of describeFindings(findings)) context.print(line);
      onExitCode(findings.some(({ state }) => state === 'problem') ? 1 : 0);
    });
}

function describeFindings(findings: readonly DoctorFinding[]): readonly string[] {
  const rows = findings.map(({ state, check, found, advice }) => [
    state,
    check,
    advice === undefined ? found : `${found}; ${advice}`,
  ]);
  const count = (state: DoctorFinding['state']) => findings.filter((finding) => finding.state === state).length;
  const sum = `${count('problem')} problems, ${count('warning')} warnings, ${count('ok')} ok`;
  return [...formatTable([['STATE', 'CHECK', 'FOUND'], ...rows]), sum];
}
