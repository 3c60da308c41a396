import { type KeyedRequest, parseIdempotencyKey } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import { isProjectedStart, startsRun } from '../operation-traits.ts'
import type { CreateStage } from './stage.ts'

/** Answers a repeated request with the answer stored under its Idempotency-Key. */
export const createIdempotency: CreateStage =
  ({ config, keyRequest, recall }) =>
  (exchange) => {
    const { head, route, principal, visibility, json, content = json, headers } = exchange
    if (route?.mounted.operation.idempotent !== true) return undefined

    const header = head.header('idempotency-key')
    if (header === undefined) {
      if (config.requireKey === 'enforce') {
        throw perdureError('idempotency-key-required', { hint: 'send the header Idempotency-Key with a new UUID' })
      }
      headers.set('Idempotency-Status', 'missing')
      return undefined
    }
    const { operation } = route.mounted
    const identity = {
      subject: principal.subject,
      method: head.method,
      path: config.basePath + route.path,
      query: head.search === '' ? [] : [...new URLSearchParams(head.search)],
      body: content,
      contentOf: route.params.sessionId ?? route.params.runId ?? route.params.approvalId,
      sealedFor: operation.sealed === true ? principal : undefined,
    }
    const lookUp = (request: KeyedRequest) => {
      const key: KeyedRequest = { ...request, visibility, rereads: operation.rereads }
      exchange.key = key
      if (!isProjectedStart(operation)) return startsRun(operation) ? recall.beforeCommit(key) : recall(key)
      // Refuses another request with this key. The use case finds the run of the same request, and answers with its stream.
      recall.fromCache(key)
      return undefined
    }
    const request = keyRequest(identity, parseIdempotencyKey(header))
    return request instanceof Promise ? request.then(lookUp) : lookUp(request)
  }
