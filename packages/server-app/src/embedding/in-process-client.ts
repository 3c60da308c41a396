import { createRequire } from 'node:module'
import type { PerdureClient } from '@perdure/client'
import {
  type CallerFacts,
  callerProblem,
  isSubjectName,
  type Principal,
  SUBJECT_NAME_RULE,
  toCallerText,
} from '@perdure/core'
import { isGrantable } from '@perdure/protocol'
import { endedBySignal } from './ended-by-signal.ts'
import type { PassedRequests } from './passed-requests.ts'

/** A part of the program, or a user that the program has authenticated; calls the server without a token. */
export interface Caller extends CallerFacts {
  /** Owner of the resources that the calls create. */
  readonly subject: string
  /** What the calls may do, such as `agents:invoke:*`. */
  readonly scopes: readonly string[]
}

export interface InProcessDeps {
  readonly basePath: string
  readonly answer: PassedRequests['answer']
  /** Whether the server has stopped, after which nothing answers any more. */
  readonly isStopped: () => boolean
}

const isSource = import.meta.filename.endsWith('.ts')
const CLIENT = isSource ? '../../../client/src/index.ts' : '@perdure/client'

/** Loads the client with its first use: most servers never call themselves, and start faster without it. */
const loadClient = () => createRequire(import.meta.url)(CLIENT) as typeof import('@perdure/client')

/** The pipeline never sees an address, because no connection exists. */
const ORIGIN = 'http://localhost'

export function createInProcessClient(given: Caller, { basePath, answer, isStopped }: InProcessDeps): PerdureClient {
  const caller = principalOf(given)
  const client = loadClient().createClient({
    baseUrl: ORIGIN + basePath,
    fetch: (input, init) => {
      // A subscription would reconnect for ever, and keep the process alive.
      if (isStopped()) client.close()
      const request = new Request(input, init)
      return untilAborted(request.signal, () => answer(request, { caller }))
    },
    transport: 'sse',
  })
  return client
}

/** @throws TypeError */
export function principalOf({ subject, scopes, name, claims }: Caller): Principal {
  checkCaller({ subject, scopes, name, claims })
  return { subject, scopes: [...scopes], caller: toCallerText({ name, claims }) }
}

/** Programs without types may pass anything, such as a numeric user id. */
function checkCaller({ subject, scopes, ...facts }: { readonly [Member in keyof Caller]: unknown }): void {
  if (typeof subject !== 'string' || !isSubjectName(subject)) throw new TypeError(`subject ${SUBJECT_NAME_RULE}`)
  if (!Array.isArray(scopes)) throw new TypeError('scopes must be a list such as ["agents:invoke:*"]')
  const unknown = scopes.find((scope) => typeof scope !== 'string' || !isGrantable(scope))
  if (unknown !== undefined) throw new TypeError(`scopes: ${unknown} is not a scope such as agents:invoke:*`)
  const problem = callerProblem(facts)
  if (problem !== undefined) throw new TypeError(problem)
}

/** Rejects with the reason of the signal once it aborts, as `fetch` does. Then also ends the body. */
async function untilAborted(signal: AbortSignal, answer: () => Promise<Response>): Promise<Response> {
  signal.throwIfAborted()
  const answering = answer()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const response = await Promise.race([answering, aborted])
    return endedBySignal(response, signal)
  } catch (error) {
    answering.then((late) => late.body?.cancel()).catch(() => undefined)
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
