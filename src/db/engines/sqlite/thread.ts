/**
 * The thread that has an SQLite database open. Statements and calls of procedures arrive as messages and are run and
 * answered in order; `close` closes the database. `open-file.ts` is the other end. docs/decisions/0282
 */
import { parentPort, workerData } from 'node:worker_threads';
import type {
  CallRequest,
  OpenSettings,
  RunStatement,
  StatementRequest,
  ThreadAnswer,
  ThreadError,
} from './messages.ts';
import { openStatements, type Statements } from './statements.ts';

function serve(to: NonNullable<typeof parentPort>, settings: OpenSettings): void {
  try {
    const connection = openStatements(settings);
    const procedures =
      settings.procedures === undefined
        ? undefined
        : openProcedures((statement) => connection.run(statement), settings.procedures);
    const take = async (request: readonly StatementRequest[] | CallRequest | 'close'): Promise<void> => {
      if (request === 'close') {
        connection.close();
        to.close();
      } else if ('name' in request) to.postMessage([await answerCall(procedures, request)]);
      else to.postMessage(request.map((statement) => answer(connection, statement)));
    };
    // In order, also while a call waits for its file to load.
    let last = Promise.resolve();
    to.on('message', (request) => {
      last = last.then(() => take(request));
    });
    to.postMessage([{ id: 0, kind: 'changes', changes: 0n }] satisfies ThreadAnswer[]);
  } catch (error) {
    to.postMessage([{ id: 0, kind: 'error', error: threadError(error) }] satisfies ThreadAnswer[]);
    to.close();
  }
}

type CallProcedure = (name: string, args: unknown) => Promise<unknown>;

/** Loads Kysely only in threads that run procedures. */
async function openProcedures(run: RunStatement, file: string): Promise<CallProcedure> {
  const { createCalls } = await import('./calls.ts');
  return await createCalls(run, file);
}

async function answerCall(
  procedures: Promise<CallProcedure> | undefined,
  { id, name, args }: CallRequest,
): Promise<ThreadAnswer> {
  try {
    const call = await procedures;
    return { id, kind: 'value', value: JSON.stringify(await call?.(name, JSON.parse(args))) };
  } catch (error) {
    return { id, kind: 'error', error: threadError(error) };
  }
}

function answer(connection: Statements, statement: StatementRequest): ThreadAnswer {
  const { id } = statement;
  try {
    return { id, ...connection.run(statement) };
  } catch (error) {
    return { id, kind: 'error', error: threadError(error) };
  }
}

function threadError(error: unknown): ThreadError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message } = error;
  return {
    message,
    ...('code' in error && { code: error.code }),
    ...('errcode' in error && { errcode: error.errcode }),
  };
}

// Must come after the class. `as`: `open-file.ts`, which starts the thread, passes this.
if (parentPort !== null) serve(parentPort, workerData as OpenSettings);
