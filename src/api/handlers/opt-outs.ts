/** A page of the numbers that want no advertising, for customers and operators alike. */
import type { Executor } from '#db/schema/schema.ts';
import { listOptOuts, type OptOutPage } from '#db/tables/sms/opt-outs.ts';

/** `accountId` 0: of everybody. */
export async function pageOfOptOuts(x: Executor, accountId: number, page: OptOutPage) {
  const list = await listOptOuts(x, { accountId, ...page });
  return { list, next: list.length < page.limit ? '' : (list.at(-1)?.number ?? '') };
}
