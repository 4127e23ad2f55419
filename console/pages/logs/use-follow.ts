/** Follows a log while the page is open: lines are shown four times a second at most. */
import { useEffect, useRef, useState } from 'react';
import type { LogItem } from '#client/follow-log.ts';
import type { Problem } from '../../components/load.ts';
import { problemOf } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { type Filter, type Followed, NOTHING_FOLLOWED, withItems, writeFilter } from './line.ts';

const SHOWN_EVERY_MS = 250;

export interface Following {
  readonly followed: Followed;
  readonly isRunning: boolean;
  /** Why it could not begin. */
  readonly problem: Problem | undefined;
  readonly start: (domainId: string, filter: Filter) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

export function useFollow(): Following {
  const { caller } = useServices();
  const [followed, setFollowed] = useState(NOTHING_FOLLOWED);
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const follow = async (domain_id: string, filter: string, { signal }: AbortController) => {
    const { url } = await caller.call('log.tail', { domain_id, ...(filter !== '' && { filter }) }, { signal });
    const arrived: LogItem[] = [];
    const show = () => {
      const items = arrived.splice(0);
      if (items.length > 0) setFollowed((before) => withItems(before, items));
    };
    const timer = setInterval(show, SHOWN_EVERY_MS);
    try {
      for await (const item of caller.followLog(url, signal)) arrived.push(item);
      // The service says why it ends; a proxy that ends it does not.
      if (arrived.at(-1)?.['end'] === undefined) arrived.push({ end: 'lost' });
    } finally {
      clearInterval(timer);
      show();
    }
  };

  const start = (domainId: string, filter: Filter) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setProblem(undefined);
    setRunning(true);
    setFollowed((before) => ({ ...before, end: undefined }));
    const note = (error: unknown) => {
      if (!controller.signal.aborted) setProblem(problemOf(error));
    };
    const end = () => {
      if (running.current === controller) setRunning(false);
    };
    void follow(domainId, writeFilter(filter), controller).catch(note).finally(end); // noted above
  };
  return {
    followed,
    isRunning,
    problem,
    start,
    stop: () => running.current?.abort(),
    clear: () => setFollowed(NOTHING_FOLLOWED),
  };
}
