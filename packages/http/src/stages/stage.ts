import type { Exchange } from '../exchange.ts'
import type { Answer } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'

/** Methods of requests that change nothing. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** One step before the handler: fills in the exchange, answers early, or throws a PerdureError to refuse the request. */
type Stage = (exchange: Exchange) => Answer | undefined | Promise<Answer | undefined>

export type CreateStage = (deps: HttpAppDeps) => Stage
