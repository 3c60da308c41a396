import { createSlidingWindow } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import type { Operation } from '@perdure/protocol'
import { isConsolePage } from '../console/console-pages.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpConfig } from '../http-app-deps.ts'
import { UNKNOWN_ADDRESS } from '../request/client.ts'
import type { RequestHead } from '../request/request-head.ts'
import type { Route } from '../router.ts'
import type { CreateStage } from './stage.ts'

const WINDOW_MS = 60_000
const MAX_ADDRESSES = 100_000

/**
 * Limits the requests per minute of each client address. Probes and metrics scrapes have a separate limit, and so have
 * the files of the console, the requests that follow a run through another protocol, and those to each hook.
 */
export const createRateLimit: CreateStage = ({ clock, config }) => {
  const windowOf = (limit: number) => ({
    limit,
    ...createSlidingWindow(clock, { limit, windowMs: WINDOW_MS, maxKeys: MAX_ADDRESSES }),
  })
  const requests = windowOf(config.perIpRequests)
  const probes = windowOf(config.perIpRequests)
  const pages = windowOf(config.perIpRequests)
  const polls = windowOf(config.pollsPerMinute)
  const hooks = windowOf(config.hookRequestsPerMinute)
  const isProbe = (path: string) => {
    const below = path.startsWith(config.basePath) ? path.slice(config.basePath.length) : ''
    return below === '/metrics' || below === '/health' || below.startsWith('/health/')
  }

  const windowFor = ({ head, route }: Exchange) => {
    if (isProbe(head.path)) return probes
    if (route === undefined) return requests
    if (isConsolePage(route.mounted)) return pages
    // An unknown hook counts as any other request, so that names do not add up to more requests.
    if (isHook(route, config)) return hooks
    return isPoll(head, route.mounted.operation) ? polls : requests
  }

  return (exchange) => {
    const { clientAddress, headers, route } = exchange
    if (clientAddress === UNKNOWN_ADDRESS) return undefined
    const window = windowFor(exchange)
    const { limit, take } = window
    const name = window === hooks ? `${route?.params.hookId} ${clientAddress}` : clientAddress
    const { allowed, remaining, resetMs } = take(name)
    headers.set('RateLimit-Policy', `"per-ip";q=${limit};w=${WINDOW_MS / 1_000}`)
    headers.set('RateLimit', `"per-ip";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`)
    if (!allowed) throw perdureError('rate-limit-exceeded', { retryAfter: resetMs })
    if (window === polls) exchange.charge = (bytes) => chargeFor(bytes, () => take(clientAddress).allowed)
    return undefined
  }
}

const POLL_BYTES = 1_048_576

/** The request itself has paid for the first part. */
function chargeFor(bytes: number, take: () => boolean): void {
  for (let charged = POLL_BYTES; charged < bytes && take(); charged += POLL_BYTES);
}

const isHook = ({ mounted, params }: Route, { hookIds }: HttpConfig): boolean =>
  mounted.operation.takesRaw === true && hookIds.has(params.hookId ?? '')

const isPoll = ({ header }: RequestHead, { polls }: Operation): boolean =>
  typeof polls === 'object' ? header(polls.header)?.trim() === polls.value : polls === true
