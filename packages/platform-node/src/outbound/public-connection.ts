import { lookup as resolveName } from 'node:dns'
import type { ClientRequest } from 'node:http'
import type { LookupFunction, Socket } from 'node:net'
import { isPublicAddress } from './public-address.ts'
import type { Resolve, ResolvedAddress } from './resolve.ts'

/** Whether the list of an operator has the host of a URL. The entries name the port, unless it is the default port. */
export const isListed = (hosts: readonly string[], url: URL): boolean =>
  hosts.some((host) => URL.parse(`${url.protocol}//${host}`)?.host === url.host)

/**
 * Options of a request that connects only to public addresses. A name is resolved once, and the connection is opened to
 * the addresses that were checked, so a name that resolves differently the second time gains nothing.
 */
export const publicOnly = (resolve: Resolve = resolveAll) => ({ lookup: publicLookup(resolve) })

/** A literal address in a URL is never looked up, so the connection itself is checked too, before anything is sent. */
export function checkConnection(request: ClientRequest): void {
  request.on('socket', (socket: Socket) => {
    socket.once('connect', () => {
      const { remoteAddress = '' } = socket
      if (!isPublicAddress(remoteAddress)) request.destroy(notPublic(remoteAddress))
    })
  })
}

/** The message of the first error behind an error of a connection. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (name, { all }, done) => {
    resolve(name).then(
      (addresses) => {
        const [first] = addresses
        const refused = addresses.find(({ address }) => !isPublicAddress(address))
        if (refused !== undefined) done(notPublic(refused.address, name), [])
        else if (first === undefined) done(new Error(`${name} has no address`), [])
        else if (all === true) done(null, [...addresses])
        else done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, []),
    )
  }

const notPublic = (address: string, name?: string) =>
  new Error(`${name === undefined ? address : `${name} resolves to ${address}, which`} is not a public address`)

const resolveAll: Resolve = (name) => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly ResolvedAddress[]>()
  resolveName(name, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  return promise
}
