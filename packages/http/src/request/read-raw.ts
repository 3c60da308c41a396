import { perdureError } from '@perdure/ports'
import type { Exchange } from '../exchange.ts'
import type { HttpConfig } from '../http-app-deps.ts'
import { readBody } from './read-body.ts'
import type { RequestHead } from './request-head.ts'

/** Reads the body of an operation that takes it raw. @throws PerdureError `body-too-large`, `unsupported-media-type` */
export const readRaw = (exchange: Exchange, { hookBodyLimitBytes }: Pick<HttpConfig, 'hookBodyLimitBytes'>) => {
  requireIdentity(exchange.head)
  return readBody(exchange, { maxBytes: hookBodyLimitBytes, field: 'webhooks.inBodyLimitBytes' })
}

/** @throws PerdureError `unsupported-media-type` if the body is encoded */
export function requireIdentity({ header }: RequestHead): void {
  if ((header('content-encoding') ?? 'identity').toLowerCase() === 'identity') return
  throw perdureError('unsupported-media-type', { hint: 'send the body without Content-Encoding' })
}
