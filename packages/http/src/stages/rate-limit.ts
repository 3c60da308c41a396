import { createSlidingWindow } from '@perdure/core'
import { AppError } from '@perdure/ports'
import { isConsolePage } from '../console/console-pages.ts'
import { UNKNOWN_ADDRESS } from '../request/client.ts'
import type { CreateStage } from './stage.ts'

const WINDOW_MS = 60_000
const MAX_ADDRESSES = 100_000

/**
 * Limits the requests per minute of each client address. Probes and metrics scrapes have a separate limit, and so have
 * the files of the console.
 */
export const createRateLimit: CreateStage = ({ clock, config }) => {
  const limit = config.perIpRequests
  const options = { limit, windowMs: WINDOW_MS, maxKeys: MAX_ADDRESSES }
  const requests = createSlidingWindow(clock, options)
  const probes = createSlidingWindow(clock, options)
  const pages = createSlidingWindow(clock, options)
  const isProbe = (path: string) => {
    const below = path.startsWith(config.basePath) ? path.slice(config.basePath.length) : ''
    return below === '/metrics' || below === '/health' || below.startsWith('/health/')
  }

  return ({ head, clientAddress, headers, route }) => {
    if (clientAddress === UNKNOWN_ADDRESS) return undefined
    const isPage = route !== undefined && isConsolePage(route.mounted)
    const window = isPage ? pages : isProbe(head.path) ? probes : requests
    const { allowed, remaining, resetMs } = window.take(clientAddress)
    headers.set('RateLimit-Policy', `"per-ip";q=${limit};w=${WINDOW_MS / 1_000}`)
    headers.set('RateLimit', `"per-ip";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`)
    if (!allowed) throw new AppError('rate-limit-exceeded', { retryAfterMs: resetMs })
    return undefined
  }
}
