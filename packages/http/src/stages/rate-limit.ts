import { createSlidingWindow } from '@perdure/core'
import { AppError } from '@perdure/ports'
import { UNKNOWN_ADDRESS } from '../request/client.ts'
import type { CreateStage } from './stage.ts'

const WINDOW_MS = 60_000
const MAX_ADDRESSES = 100_000

/** Limits the requests per minute of each client address. Probes and metrics scrapes have a separate limit. */
export const createRateLimit: CreateStage = ({ clock, config }) => {
  const limit = config.perIpRequests
  const options = { limit, windowMs: WINDOW_MS, maxKeys: MAX_ADDRESSES }
  const requests = createSlidingWindow(clock, options)
  const probes = createSlidingWindow(clock, options)
  const isProbe = (path: string) => {
    const below = path.startsWith(config.basePath) ? path.slice(config.basePath.length) : ''
    return below === '/metrics' || below === '/health' || below.startsWith('/health/')
  }

  return ({ head, clientAddress, headers }) => {
    if (clientAddress === UNKNOWN_ADDRESS) return undefined
    const window = isProbe(head.path) ? probes : requests
    const { allowed, remaining, resetMs } = window.take(clientAddress)
    headers.set('RateLimit-Policy', `"per-ip";q=${limit};w=${WINDOW_MS / 1_000}`)
    headers.set('RateLimit', `"per-ip";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`)
    if (!allowed) throw new AppError('rate-limit-exceeded', { retryAfterMs: resetMs })
    return undefined
  }
}
