import { noSpan } from '@perdure/ports'
import { type Exchange, toCall } from './exchange.ts'
import type { Answer } from './handlers.ts'
import type { HttpAppDeps } from './http-app-deps.ts'
import { honoursPrefer } from './operation-traits.ts'
import { readRaw } from './request/read-raw.ts'
import type { Route } from './router.ts'
import { createAudit } from './stages/audit.ts'
import { createAuthentication } from './stages/authentication.ts'
import { createBody } from './stages/body.ts'
import { createBodyScope } from './stages/body-scope.ts'
import { createCors } from './stages/cors.ts'
import { createCsrf } from './stages/csrf.ts'
import { createHost } from './stages/host.ts'
import { createIdempotency } from './stages/idempotency.ts'
import { createLease } from './stages/lease.ts'
import { createOrigin } from './stages/origin.ts'
import { createRateLimit } from './stages/rate-limit.ts'
import { createRepeatedHeader } from './stages/repeated-header.ts'
import { createRequestContext } from './stages/request-context.ts'
import { createRoute } from './stages/route.ts'
import { createScope } from './stages/scope.ts'
import type { CreateStage } from './stages/stage.ts'

/** The stages that every request passes before its handler, in order. */
export const STAGES: ReadonlyArray<readonly [name: string, create: CreateStage]> = [
  ['request-context', createRequestContext],
  ['cors', createCors],
  ['rate-limit', createRateLimit],
  ['repeated-header', createRepeatedHeader],
  ['host', createHost],
  ['origin', createOrigin],
  ['route', createRoute],
  ['lease', createLease],
  ['authentication', createAuthentication],
  ['csrf', createCsrf],
  ['scope', createScope],
  ['body', createBody],
  ['body-scope', createBodyScope],
  ['idempotency', createIdempotency],
  ['audit', createAudit],
]

/** Runs requests through the stages. @throws PerdureError of the stage or use case that refuses the request */
export interface Pipeline {
  run(exchange: Exchange): Promise<Answer>
  /** Runs the stages up to `lease`. For WebSocket upgrades, which authenticate separately. */
  runToRoute(exchange: Exchange): Promise<Answer | undefined>
}

export function createPipeline(deps: HttpAppDeps): Pipeline {
  const stages = STAGES.map(([name, create]) => ({ name, pass: create(deps) }))
  const upToLease = stages.slice(0, stages.findIndex(({ name }) => name === 'lease') + 1)

  const runStages = async (passed: typeof stages, exchange: Exchange) => {
    for (const { pass } of passed) {
      const passing = pass(exchange)
      const answer = passing instanceof Promise ? await passing : passing
      if (answer !== undefined) return answer
    }
    return undefined
  }

  // The route stage has refused every request without a route.
  const finish = (exchange: Exchange) =>
    handle(deps, exchange, exchange.route as Route).catch((error: unknown) =>
      deps.recall.afterRefusal(exchange.key, error),
    )

  return {
    run: async (exchange) => (await runStages(stages, exchange)) ?? finish(exchange),
    runToRoute: (exchange) => runStages(upToLease, exchange),
  }
}

async function handle({ config }: HttpAppDeps, exchange: Exchange, { mounted }: Route): Promise<Answer> {
  const call = toCall(exchange, async () => readRaw(exchange, config))
  const { span } = exchange
  const answer = await (span === noSpan ? mounted.handle(call) : span.within(() => mounted.handle(call)))
  if (honoursPrefer(mounted.operation) && call.prefer.applied !== '') {
    exchange.headers.set('Preference-Applied', call.prefer.applied)
  }
  return answer
}
