/** Makes the events of deltas, one for each position and view. */
import type { Db } from '#db/open.ts';
import { type ConfigHead, changesSince, type ResourceRow } from '#db/tables/resources.ts';
import { readRevisionTag } from '#db/tables/revision-tags.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import { formatEvent } from '../wire/sse.ts';
import type { UnsealBody } from './open-secrets.ts';
import { formatChange } from './snapshot.ts';
import { type GroupBodies, hasSecret, type ViewSealer } from './view-sealer.ts';
import { readVisibility, type View, type Visibility } from './views.ts';

/** Resources in one delta; a client that is further behind gets the next one when it has read this one. */
const MAX_DELTA_ROWS = 250;

export interface DeltaEvent {
  /** Position after the delta. */
  readonly at: FeedPosition;
  /** The event as it is sent: encoded once, for all clients. */
  readonly bytes: Buffer;
  /** Whether the delta only moves the position. */
  readonly isEmpty: boolean;
  /** Id of the view key that its secrets are sealed with; absent if it has none. */
  readonly vk: string | undefined;
}

export interface DeltaMaker {
  /** `view`: absent for an edge that sees everything. */
  make(from: number, view: View | undefined): Promise<DeltaEvent>;
}

interface Changes {
  readonly at: FeedPosition;
  readonly rows: readonly ResourceRow[];
  /** Absent until a view needs it. */
  see: Promise<(row: ResourceRow, group: string) => Visibility> | undefined;
}

export interface DeltaSources {
  readonly db: Db;
  /** Formats bodies for edges that see everything. */
  readonly openBody: UnsealBody;
  readonly sealer: ViewSealer;
}

/** Makes deltas up to `head`; reads the changes from each revision once. */
export function createDeltaMaker({ db, openBody, sealer }: DeltaSources, head: ConfigHead): DeltaMaker {
  const known = new Map<number, Promise<Changes>>();
  const read = async (from: number): Promise<Changes> => {
    const { to, rows } = await changesSince(db.query, { from, to: head.revision, limit: MAX_DELTA_ROWS });
    const tag = to === head.revision ? head.tag : await readRevisionTag(db.query, to);
    return { at: { epoch: head.epoch, revision: to, tag }, rows, see: undefined };
  };
  return {
    async make(from, view) {
      const reading = known.get(from) ?? read(from);
      known.set(from, reading);
      const changes = await reading;
      const { texts, vk } =
        view === undefined
          ? { texts: changes.rows.map((row) => formatChange(row, openBody)), vk: undefined }
          : await formatFor(db, sealer, changes, view);
      const { revision, tag } = changes.at;
      const ofView = view === undefined ? '' : `"view":${JSON.stringify(view.id)},`;
      const data = `{"from":${from},"to":${revision},"tag":${JSON.stringify(tag)},${ofView}"changes":[${texts.join(',')}]}`;
      const bytes = Buffer.from(formatEvent({ id: revision, name: 'delta', data }));
      return { at: changes.at, bytes, isEmpty: texts.length === 0, vk };
    },
  };
}

async function formatFor(db: Db, sealer: ViewSealer, changes: Changes, { group }: View) {
  changes.see ??= readVisibility(db.query, changes.rows);
  const see = await changes.see;
  const seen = changes.rows.flatMap((row) => {
    const visibility = see(row, group);
    if (visibility === 'none') return [];
    return [visibility === 'whole' ? row : { ...row, isDeleted: true }];
  });
  const { format, key } = seen.some(hasSecret) ? await sealer.bodiesFor(group) : PLAIN;
  return { texts: seen.map((row) => formatChange(row, format)), vk: key?.id };
}

/** Formats bodies without secrets. */
const PLAIN: GroupBodies = { format: ({ body }) => body, key: undefined };
