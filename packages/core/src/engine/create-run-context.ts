import { fromJsonText, type Logger, perdureError } from '@perdure/ports'
import type { ResultOf, Stored } from '@perdure/protocol'
import { callerOfRun, type RunCaller } from '../auth/caller.ts'
import type { Authoring } from '../durable/authoring.ts'
import type { CallScope } from '../durable/call-scope.ts'
import { checkMembers } from '../durable/check-options.ts'
import { callClientTool } from '../durable/client-tool-call.ts'
import { createAuthoring } from '../durable/create-authoring.ts'
import { handledRejection } from '../durable/handled-rejection.ts'
import { LOGGED_ANSWERS, type LoggedAnswers, loggedAnswersOf } from '../durable/logged-answers.ts'
import type { ServiceCaller, TakeMessages } from '../durable/service-caller.ts'
import { createShownState } from '../durable/shown-state.ts'
import type { StepFn } from '../durable/step.ts'
import { callStep } from '../durable/step-call.ts'
import { suspensionOf } from '../durable/suspension.ts'
import type { ToolCall, ToolOutcome } from '../durable/tool.ts'
import { callForeignTool, callTool } from '../durable/tool-call.ts'
import { callTransaction } from '../durable/transaction-call.ts'
import { checkUsage } from '../durable/usage/usage-report.ts'
import { createVersionCall } from '../durable/version-call.ts'
import { callApproval, callSleep, callWaitForEvent } from '../durable/wait-call.ts'
import { markFailedCall } from '../runs/failed-call.ts'
import { OWN_QUESTION, ownQuestion } from '../sessions/own-question.ts'
import type { SessionMessage } from '../sessions/session-message.ts'
import type { Invocable } from '../targets/invocable.ts'
import type { EmitOptions, Resume, RunContext, StartOptions } from '../targets/run-context.ts'
import type { CreateRunServices, RunServices } from '../targets/run-services.ts'
import type { CallChild } from './child-call.ts'
import type { CaptureLine } from './log-capture.ts'
import { createRunLog } from './run-log.ts'
import type { CallStart } from './start-call.ts'

/** The calls that start runs. */
export interface ChildCalls {
  readonly invoke: CallChild
  readonly start: CallStart
}

export interface ContextParts {
  readonly logger: Logger
  /** Missing when log lines are not captured. */
  readonly capture: CaptureLine | undefined
  readonly resume: Resume | undefined
  readonly childCalls: ChildCalls
  readonly takeMessages: (scope: CallScope, steeringOnly: boolean) => ReturnType<TakeMessages>
  readonly services: CreateRunServices
}

/** Creates the second argument of an agent's `run` or a workflow's `execute`. */
export function createRunContext(scope: CallScope, parts: ContextParts): RunContext {
  const { logger, capture, resume, childCalls, services, takeMessages } = parts
  const { run, journal, signal, ledger, budget, span } = scope
  const { kind, targetId } = run
  const version = createVersionCall(scope)
  let made: RunServices | undefined
  const service = <Name extends keyof RunServices>(name: Name): RunServices[Name] => {
    made ??= services({ ...callerOf(scope), takeMessages: (steeringOnly) => takeMessages(scope, steeringOnly) })
    return made[name]
  }
  /** Bytes are stored first, by a durable call; the event then shows the URL of the stored file. */
  const withStoredFiles = (authoring: Authoring): Authoring => ({
    ...authoring,
    async file(file) {
      const { data, mediaType, name } = file
      if (!(data instanceof Uint8Array)) return authoring.file(file)
      const named = name === undefined ? {} : { name }
      const written = await service('files').write({ mediaType, data, ...named })
      return members.emit('part.file', { fileId: written.id, mediaType: written.mediaType, url: written.url, ...named })
    },
  })
  /** A write of the code between its calls has its place in the order of the outcomes. A write of a call is part of the call. */
  const held = <T>(write: Promise<T>): Promise<T> => {
    if (scope.nesting.current() === undefined) ledger.holdFor(write)
    return write
  }
  const shown = createShownState()
  let said: Authoring | undefined
  let caller: RunCaller | undefined
  const members: Omit<RunContext, keyof RunServices | keyof Authoring | 'caller'> & WithLazy = {
    runId: run.id,
    agentId: kind === 'agent' ? targetId : undefined,
    workflowId: kind === 'workflow' ? targetId : undefined,
    threadId: run.threadId,
    sessionId: run.sessionId,
    owner: run.owner,
    userId: run.userId,
    attempt: run.attempt,
    traceparent: span.traceparent ?? run.traceparent,
    metadata: run.metadata,
    signal,
    log: createRunLog(logger, run, capture),
    resume,
    emit(type, payload, options: EmitOptions = {}) {
      try {
        checkMembers('ctx.emit', options, ['phase'])
        const keepState = shown.read(type, payload)
        if (!ledger.isReplaying()) {
          const durable = journal.emit(type, payload, options.phase)
          keepState()
          return held(durable)
        }
        // A replay must reject the same events as the first execution, even though it emits none.
        journal.check(type, payload, options.phase)
        keepState()
        return ledger.yieldTurn()
      } catch (error) {
        logger.error('event refused', error, { runId: run.id, type })
        return handledRejection(error)
      }
    },
    step: async <T>(name: string, fn: StepFn<T>, options = {}) =>
      (await callStep(scope, name, { fn, options })) as Stored<Awaited<T>>,
    sleep: (name, until) => callSleep(scope, name, until),
    waitForEvent: <Payload>(name: string, options = {}) =>
      callWaitForEvent(scope, name, options) as Promise<Payload | null>,
    approval: (name, options = {}) => callApproval(scope, name, options),
    version: (name, min, max) => version(name, { min, max }),
    suspend(request = {}) {
      const suspension = suspensionOf(request, scope.maxResultBytes)
      if (suspension.approvals?.some(({ timeout }) => timeout !== undefined)) scope.requireTimers()
      return suspension
    },
    tool: async <A, T>(call: ToolCall<A, T>) => (await callTool(scope, call)) as ToolOutcome<Stored<Awaited<T>>>,
    clientTool: (call) => callClientTool(scope, call),
    usage: async (report) => {
      checkUsage(report)
      await (ledger.isReplaying() ? ledger.yieldTurn() : held(budget.add(report)))
    },
    invoke: async <Target extends string | Invocable>(target: Target, input?: unknown) => {
      const ended = await childCalls.invoke(scope, target, input)
      if (ended.status === 'completed') {
        return (ended.result === undefined ? undefined : fromJsonText(ended.result)) as Invoked<Target>
      }
      const message = ended.error?.message ?? `the child ${ended.name} did not complete`
      throw markFailedCall(perdureError('step-failed', { message }), ended)
    },
    start: (target, input?: unknown, options: StartOptions = {}) => childCalls.start(scope, target, { input, options }),
    // This member must come last: V8 adds all members after a computed name one at a time.
    [LAZY]: (name) => {
      if (name === LOGGED_ANSWERS) return loggedAnswersOf(scope)
      if (name === OWN_QUESTION) return ownQuestion(run)
      if (isServiceName(name)) return service(name)
      if (name === 'caller') {
        caller ??= callerOfRun(run)
        return caller
      }
      said ??= withStoredFiles(createAuthoring(scope, members.emit, shown))
      return said[name]
    },
  }
  return Object.defineProperties(members, LAZY_MEMBERS) as typeof members & Lazy
}

type Invoked<Target> = Target extends string ? unknown : ResultOf<Target>

const LAZY = Symbol('lazy')

/** Members that are created when they are read first, because most runs use few of them. */
type Lazy = RunServices &
  Authoring &
  Pick<RunContext, 'caller'> & {
    readonly [LOGGED_ANSWERS]: LoggedAnswers
    readonly [OWN_QUESTION]: SessionMessage
  }

interface WithLazy {
  readonly [LAZY]: (name: keyof Lazy) => unknown
}

const lazily = (name: keyof Lazy): PropertyDescriptor => ({
  enumerable: true,
  get(this: WithLazy) {
    return this[LAZY](name)
  },
})

const isServiceName = (name: keyof Lazy): name is keyof RunServices => SERVICE_NAMES.has(name)
const SERVICE_NAMES: ReadonlySet<keyof Lazy> = new Set(['session', 'memory', 'skills', 'mcp', 'files'])

/**
 * Shared by all contexts. If each context had its own getters, each would also get its own hidden class, which V8 keeps
 * until a full garbage collection.
 */
const LAZY_MEMBERS = {
  caller: lazily('caller'),
  session: lazily('session'),
  memory: lazily('memory'),
  skills: lazily('skills'),
  mcp: lazily('mcp'),
  files: lazily('files'),
  text: lazily('text'),
  reasoning: lazily('reasoning'),
  state: lazily('state'),
  data: lazily('data'),
  source: lazily('source'),
  file: lazily('file'),
  stream: lazily('stream'),
  [LOGGED_ANSWERS]: { ...lazily(LOGGED_ANSWERS), enumerable: false },
  [OWN_QUESTION]: { ...lazily(OWN_QUESTION), enumerable: false },
} satisfies Record<keyof Lazy, PropertyDescriptor>

const callerOf = (scope: CallScope): Omit<ServiceCaller, 'takeMessages'> => ({
  run: scope.run,
  signal: scope.signal,
  step: (name, fn, options = {}, said) => callStep(scope, name, { fn, options, said }),
  tool: (name, fn, options = {}) => callForeignTool(scope, name, { fn, options }),
  transact: (name, decide) => callTransaction(scope, name, decide),
})
