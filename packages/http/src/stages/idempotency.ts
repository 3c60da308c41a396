import { keyRequest, parseIdempotencyKey } from '@berth/core'
import { AppError } from '@berth/ports'
import type { Route } from '../router.ts'
import type { CreateStage } from './stage.ts'

/** Recognizes a request that was sent before by its Idempotency-Key, and answers it again. */
export const createIdempotency: CreateStage =
  ({ config, digest, recall }) =>
  async (exchange) => {
    const { request, url, route, principal, json, headers } = exchange
    if (route?.mounted.operation.idempotent !== true) return undefined

    const header = request.headers.get('idempotency-key')
    if (header === null) {
      if (config.requireKey === 'enforce') {
        throw new AppError('idempotency-key-required', { hint: 'send the header Idempotency-Key with a new UUID' })
      }
      headers.set('Idempotency-Status', 'missing')
      return undefined
    }
    const { method } = request
    const identity = {
      subject: principal.subject,
      method,
      path: config.basePath + canonicalPath(route),
      query: [...url.searchParams],
      body: json,
      contentOf: route.params.sessionId ?? route.params.runId ?? route.params.approvalId,
    }
    const key = keyRequest(digest, identity, parseIdempotencyKey(header))
    exchange.key = route.mounted.operation.sealed === true ? { ...key, sealed: true } : key
    return recall(exchange.key)
  }

/** The path of the operation with its parameters, the same however the client escaped them. */
const canonicalPath = ({ mounted, params }: Route): string =>
  mounted.operation.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
