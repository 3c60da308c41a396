import type { AddressInfo } from 'node:net'

/** The line a measured process prints once it accepts connections. */
export function announce(server: { address(): AddressInfo | string | null }): void {
  const { port } = server.address() as AddressInfo
  console.log(`listening on http://127.0.0.1:${port}`)
}
