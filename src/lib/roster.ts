/**
 * A set of members that come and go often, such as the requests in flight. A `Set` would rebuild its table every few
 * dozen changes, and V8 links each old table to the next one: once an old one has been promoted, all members of the
 * later ones survive every minor collection. docs/decisions/0544
 */
export class Roster<T> {
  readonly #seats: Seat<T>[] = [];

  get size(): number {
    return this.#seats.length;
  }

  /** Returns the seat, by which the member is removed. The same member may be added several times. */
  add(member: T): Seat<T> {
    const seat = { member, at: this.#seats.length };
    this.#seats.push(seat);
    return seat;
  }

  /** Does nothing if the seat has been removed before. The order of the others changes. */
  remove(seat: Seat<T>): void {
    const seats = this.#seats;
    if (seats[seat.at] !== seat) return;
    const last = seats.pop();
    if (last === undefined || last === seat) return;
    seats[seat.at] = last;
    last.at = seat.at;
  }

  /** Returns a copy, so that members may be added and removed during iteration. */
  members(): T[] {
    return this.#seats.map(({ member }) => member);
  }
}

/** A member's place in a roster. */
export interface Seat<T> {
  readonly member: T;
  at: number;
}
