import type { Duplex } from 'node:stream'

/** Listener for the errors of connections: ends the one that it is called on. One for all, since they may live long. */
export function endBroken(this: Duplex): void {
  this.destroy()
}
