import type { Refusal } from '@perdure/ports'
import { ERRORS } from '@perdure/protocol'
import { type AdmittedUpgrade, admitUpgrade, type UpgradeOutcome } from './admit-upgrade.ts'
import { consolePages, consolePathOf } from './console/console-pages.ts'
import { createExchange, type Exchange } from './exchange.ts'
import type { HttpAppDeps } from './http-app-deps.ts'
import { type Mounted, mountAll } from './mount.ts'
import { createPipeline } from './pipeline.ts'
import type { HttpEnv } from './request/http-env.ts'
import type { HttpRequest } from './request/http-request.ts'
import { finish, toOutgoing } from './response/answer.ts'
import { noteOf } from './response/answer-note.ts'
import { endWithCredential } from './response/credential-stream.ts'
import { toErrorAnswer, toRefusal } from './response/error-envelope.ts'
import { bytesOf, discard, isResponse, type Outgoing, toResponse } from './response/text-answer.ts'
import { createRouter } from './router.ts'
import { agentRoutes } from './routes/agents.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { auditRoutes } from './routes/audit.ts'
import { chatRoutes } from './routes/chats.ts'
import { consoleRoutes } from './routes/console.ts'
import { consolidatorRoutes } from './routes/consolidator.ts'
import { docsRoutes } from './routes/docs.ts'
import { fileRoutes } from './routes/files.ts'
import { healthRoutes } from './routes/health.ts'
import { hookRoutes } from './routes/hooks.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { memoryRoutes } from './routes/memory.ts'
import { metricRoutes } from './routes/metrics.ts'
import { namedEventRoutes } from './routes/named-events.ts'
import { nodeRoutes } from './routes/nodes.ts'
import { realtimeRoutes } from './routes/realtime.ts'
import { runRoutes } from './routes/runs.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { skillRoutes } from './routes/skills.ts'
import { subjectRoutes } from './routes/subjects.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { triggerRoutes } from './routes/triggers.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { workflowRoutes } from './routes/workflows.ts'
import { createReporter } from './telemetry/reporter.ts'

export interface HttpApp {
  /** Handles a request; never rejects. */
  answer(request: HttpRequest, env?: HttpEnv): Promise<Outgoing>
  /** Like `answer`, for a request that another HTTP server has received. */
  fetch(request: Request, env?: HttpEnv): Promise<Response>
  /** Decides whether an upgrade may become a WebSocket; otherwise returns the error response. Never rejects. */
  admitUpgrade(request: HttpRequest, env?: HttpEnv): Promise<AdmittedUpgrade | Outgoing>
}

/** Creates the REST API: every operation of the table, behind one pipeline. */
export function createHttpApp(deps: HttpAppDeps): HttpApp {
  const { clock, config, openRunStream, watchCredential, admit, onAnswer } = deps
  const pages = consolePages(deps)
  const prefixes = [config.basePath, ...(pages.length === 0 ? [] : [consolePathOf(config.basePath)])]
  const router = createRouter(prefixes, [...mountRoutes(deps), ...pages])
  const pipeline = createPipeline(deps)
  const reporter = createReporter(deps)

  const exchangeOf = (request: HttpRequest, env: HttpEnv) =>
    createExchange(request, env, { router, startedMs: clock.monotonicMs() })

  /** Runs the work, then records its response. If recording fails, the client receives the recording error instead. */
  const recorded = async (exchange: Exchange, work: () => Promise<Outgoing>) => {
    const { outgoing, error } = await catchError(exchange, work)
    const sent = await catchError(exchange, async () => {
      await onAnswer?.(noteOf(exchange, { status: outgoing.status, error }, deps))
      return outgoing
    })
    if (sent.outgoing !== outgoing) await discard(outgoing)
    const { status } = sent.outgoing
    reporter.answered(exchange, { status, bytes: bytesOf(sent.outgoing) }, sent.error ?? error)
    return finish(exchange, sent.outgoing)
  }

  const admitted = async (exchange: Exchange): Promise<AdmittedUpgrade> => {
    admitUpgrade(exchange, config)
    await admit?.({ isPrivileged: false, isPublic: false })
    const { clientAddress, requestId, route } = exchange
    return {
      ...{ clientAddress, requestId, operationId: route?.mounted.operation.id ?? '', params: route?.params ?? {} },
      record: (outcome) => recordUpgrade(exchange, outcome),
      refuse: (error) => finish(exchange, toErrorAnswer(toRefusal(error), requestId)),
    }
  }

  const recordUpgrade = async (exchange: Exchange, { principal, error }: UpgradeOutcome) => {
    if (principal !== undefined) exchange.principal = principal
    const status = error === undefined ? SWITCHING_PROTOCOLS : ERRORS[error.code].status
    reporter.answered(exchange, { status }, error)
    await onAnswer?.(noteOf(exchange, { status, error }, deps))
  }

  const answer = (request: HttpRequest, env: HttpEnv = {}) => {
    const exchange = exchangeOf(request, env)
    return recorded(exchange, async () => {
      const outgoing = await toOutgoing(exchange, await pipeline.run(exchange), openRunStream)
      if (!isResponse(outgoing)) return outgoing
      return endWithCredential(outgoing, exchange.principal, watchCredential)
    })
  }

  return {
    answer,
    fetch: async (request, env) => toResponse(await answer(request, { ...env, isMounted: true })),
    async admitUpgrade(request, env = {}) {
      const exchange = exchangeOf(request, env)
      try {
        const refusal = await pipeline.runToRoute(exchange)
        if (refusal === undefined) return await admitted(exchange)
        return await recorded(exchange, () => toOutgoing(exchange, refusal, openRunStream))
      } catch (thrown) {
        return recorded(exchange, () => Promise.reject(thrown))
      }
    },
  }
}

const SWITCHING_PROTOCOLS = 101

interface Answered {
  readonly outgoing: Outgoing
  readonly error?: Refusal
}

/** Converts a thrown error to a response. */
async function catchError(exchange: Exchange, work: () => Promise<Outgoing>): Promise<Answered> {
  try {
    return { outgoing: await work() }
  } catch (thrown) {
    const error = toRefusal(thrown)
    const { requestId, protocol, json, route } = exchange
    const isPage = route?.mounted.showsErrorPages === true
    return { outgoing: toErrorAnswer(error, requestId, { protocol, json, isPage }), error }
  }
}

function mountRoutes(deps: HttpAppDeps): readonly Mounted[] {
  const handlers = {
    agents: agentRoutes(deps),
    runs: runRoutes(deps),
    approvals: approvalRoutes(deps),
    audit: auditRoutes(deps),
    workflows: workflowRoutes(deps),
    sessions: sessionRoutes(deps),
    chats: chatRoutes(deps),
    files: fileRoutes(deps),
    realtime: realtimeRoutes(deps),
    skills: skillRoutes(deps),
    mcp: mcpRoutes(deps),
    tokens: tokenRoutes(deps),
    subjects: subjectRoutes(deps),
    triggers: triggerRoutes(deps),
    webhooks: webhookRoutes(deps),
    hooks: hookRoutes(deps),
    memory: memoryRoutes(deps),
    consolidator: consolidatorRoutes(deps),
    events: namedEventRoutes(deps),
    health: healthRoutes(deps),
    nodes: nodeRoutes(deps),
    metrics: metricRoutes(deps),
    docs: docsRoutes(deps),
    console: consoleRoutes(deps),
  }
  return mountAll(handlers, deps)
}
