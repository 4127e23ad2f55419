/** A page of the numbers that want no advertising, for customers and operators alike. */
import type { Executor } from '#db/schema/schema.ts';
import { listOptOuts } from '#db/tables/sms/opt-outs.ts';

/** `accountId` 0: of everybody. */
export async function pageOfOptOuts(
  x: Executor,
  accountId: number,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
) {
  const list = await listOptOuts(x, { accountId, after, limit });
  return { list, next: list.length < limit ? '' : (list.at(-1)?.number ?? '') };
}
