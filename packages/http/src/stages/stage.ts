import type { Exchange } from '../exchange.ts'
import type { Answer } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'

/** One step on the way to the handler: fills in the exchange, answers it early, or refuses it by throwing an AppError. */
type Stage = (exchange: Exchange) => Answer | undefined | Promise<Answer | undefined>

export type CreateStage = (deps: HttpAppDeps) => Stage
