import type { Duplex } from 'node:stream'

/**
 * `error` listener that destroys its own socket. All sockets share it, since a closure would take memory for as long as
 * its connection is open.
 */
export function destroyOnError(this: Duplex): void {
  this.destroy()
}
