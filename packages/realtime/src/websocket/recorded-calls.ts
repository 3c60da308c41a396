import type { AdmitRequest, RecordAnswer } from '@perdure/core'
import { type Clock, isRefusal, perdureError, type Refusal } from '@perdure/ports'
import { ERRORS, type Operation, type RpcMethod, runOperations } from '@perdure/protocol'
import type { Connection } from './connection.ts'
import type { CallMethod } from './methods.ts'

export interface RecordedCallsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly basePath: string
  /** Checks that the call can be audited. @throws PerdureError `audit-unavailable` */
  readonly admit?: AdmitRequest | undefined
  readonly onAnswer?: RecordAnswer | undefined
}

/** Methods with side effects, and the REST operation each corresponds to. */
const RECORDED_METHODS: Partial<Record<RpcMethod, Operation>> = { 'run.cancel': runOperations.abortRun }

const MAX_TARGET = 256

/**
 * Audits calls of the methods in `RECORDED_METHODS`. The entry is the same as for the REST operation, except that it
 * names the JSON-RPC method and the WebSocket path.
 */
export function withRecords(callMethod: CallMethod, deps: RecordedCallsDeps): CallMethod {
  const callRecorded = async (call: RecordedCall) => {
    const { caller, method, operation, params } = call
    const record = startRecord(deps, call)
    const work = async () => {
      await deps.admit?.({ isPrivileged: operation.privileged === true, isPublic: false })
      return callMethod(caller, method, params)
    }
    const outcome = await work().catch(async (error: unknown) => {
      await record(isRefusal(error) ? error : perdureError('internal-error', { cause: error }))
      throw error
    })
    await record()
    return outcome
  }

  return (caller, method, params) => {
    const operation = RECORDED_METHODS[method]
    if (operation === undefined) return callMethod(caller, method, params)
    return callRecorded({ caller, method, operation, params })
  }
}

interface RecordedCall {
  readonly caller: Connection
  readonly method: RpcMethod
  readonly operation: Operation
  readonly params: unknown
}

function startRecord(
  { clock, basePath, onAnswer }: RecordedCallsDeps,
  { caller, method, operation, params }: RecordedCall,
) {
  const { principal, requestId, clientAddress } = caller
  const startedMs = clock.monotonicMs()
  const route = `${basePath}/ws`
  const { runId } = params as { readonly runId?: string }

  return async (error?: Refusal): Promise<void> => {
    await onAnswer?.({
      operationId: operation.id,
      isPrivileged: operation.privileged === true,
      ...{ method, route, principal, requestId, clientAddress },
      target: runId?.slice(0, MAX_TARGET),
      status: error === undefined ? 200 : ERRORS[error.code].status,
      error: error?.code,
      durationMs: clock.monotonicMs() - startedMs,
      isReplayed: false,
      origin: { requestId, method, route, ip: clientAddress },
    })
  }
}
