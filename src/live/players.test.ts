import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLV_ENCODING } from '#fanout/flv-encoding.ts';
import { HUB_LIMITS, Hub } from '#fanout/hub.ts';
import { createManualTimers } from '../../test/support/timers.ts';
import { Players } from './players.ts';

const NAME = { domainId: 7, app: 'live', stream: 'a' };

function openPlayers({ maxPlayers, mayGoOn = () => true }: { maxPlayers: number; mayGoOn?: () => boolean }) {
  const players = new Players(maxPlayers);
  const hub = new Hub({ limits: HUB_LIMITS, timers: createManualTimers() });
  const play = () => {
    const player = players.create({ name: NAME, hub, mayGoOn });
    const viewer = { encoding: FLV_ENCODING, write: () => {}, queuedBytes: 0, end: () => {}, cut: () => player.stop() };
    player.start(viewer);
    return { ...player, goOn: () => player.start(viewer) };
  };
  return { players, hub, play };
}

test('a paused player keeps its place in the share of its domain until it leaves', () => {
  const { players, hub, play } = openPlayers({ maxPlayers: 3 });
  const [first, second] = [play(), play()];
  assert.equal(players.hasRoom(NAME.domainId), false);
  first.stop();
  second.stop();
  assert.deepEqual([players.count(NAME), hub.viewers, players.hasRoom(NAME.domainId)], [0, 0, false]);
  first.goOn();
  assert.deepEqual([players.count(NAME), hub.viewers, players.hasRoom(NAME.domainId)], [1, 1, false]);
  first.stop();
  first.leave();
  assert.equal(players.hasRoom(NAME.domainId), true);
  second.leave();
  play();
  assert.equal(players.hasRoom(NAME.domainId), true);
});

test('a player that the rules refuse when it resumes gives its place back', () => {
  let isAllowed = true;
  const { players, play } = openPlayers({ maxPlayers: 1, mayGoOn: () => isAllowed });
  const player = play();
  assert.equal(players.hasRoom(NAME.domainId), false);
  player.stop();
  isAllowed = false;
  player.goOn();
  assert.equal(players.count(NAME), 0);
  player.leave();
  assert.equal(players.hasRoom(8), true);
});
