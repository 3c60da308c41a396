import { definedMembers, perdureError, type RunBudget, type RunKind, StartError } from '@perdure/ports'
import {
  Budget,
  type ErrorCode,
  isPlainObject,
  ON_BUSY,
  OPERATOR_ID,
  PROTOCOL_NAMES,
  toMilliseconds,
} from '@perdure/protocol'
import { is } from 'valibot'
import { durationProblem } from '../durable/check-options.ts'
import { DEFAULT_STALL_TIMEOUT_MS } from '../durable/model-call.ts'
import { recoveriesProblem, retriesProblem, retryPolicyOf } from '../durable/retry-policy.ts'
import type { AgentRegistration } from './agent.ts'
import { flowProblemOf } from './check-flow.ts'
import { debounceRuleOf, rateRuleOf } from './flow-control.ts'
import { codeOf } from './registered-code.ts'
import { type BudgetOptions, ON_BUSY_WAITING, type OnBusy, type RegistrationOptions } from './registration.ts'
import type { RunTarget, RunTargets } from './run-target.ts'
import { scoringProblemOf } from './scoring-options.ts'
import type { WorkflowRegistration } from './workflow.ts'

/** The registered agents, or workflows, of a server. */
export interface TargetRegistry<Registration> {
  /**
   * Several versions of one id may be registered; the first of them is the default.
   *
   * @throws StartError `config-invalid` for an invalid id or version, one that is taken, or a registration without code
   */
  register(registration: Registration): void
  /**
   * The default version, or the given version.
   *
   * @throws PerdureError `agent-not-found`, `workflow-not-found` or `version-unknown`
   */
  get(id: string, version?: string): RunTarget
  /** The default version. */
  find(id: string): RunTarget | undefined
  /** All versions, the default first. */
  versions(id: string): readonly RunTarget[]
  /** The default versions, ordered by id. */
  list(): readonly RunTarget[]
}

/** The differences between agents and workflows. */
export interface TargetKindSpec {
  readonly kind: RunKind
  readonly notFound: ErrorCode
}

type Targets = Pick<TargetRegistry<never>, 'get' | 'find' | 'versions'>

/** Looks up agents and workflows in one place. */
export function targetsOf(agents: Targets, workflows: Targets): RunTargets {
  const registryOf = (kind: RunKind) => (kind === 'agent' ? agents : workflows)
  return {
    get: (kind, id, version) => registryOf(kind).get(id, version),
    find: (kind, id) => registryOf(kind).find(id),
    ofRun({ kind, targetId, version }) {
      const versions = registryOf(kind).versions(targetId)
      const own = versions.find((target) => target.version === version)
      return own ?? (version === undefined ? versions[0] : undefined)
    },
  }
}

export function createRegistry<Registration extends AgentRegistration | WorkflowRegistration>({
  kind,
  notFound,
}: TargetKindSpec): TargetRegistry<Registration> {
  const targets = new Map<string, readonly RunTarget[]>()

  const versionsOf = (id: string) => targets.get(id) ?? []

  const takenProblemOf = ({ id, version }: RegistrationOptions) => {
    if (versionsOf(id).every((target) => target.version !== version)) return undefined
    return version === undefined ? 'this id is already registered' : `version ${version} is already registered`
  }

  return {
    register(registration) {
      const code = codeOf(kind, registration)
      const own = problemOf(kind, registration)
      const problem = own ?? takenProblemOf(registration)
      if (problem !== undefined || 'problem' in code) {
        throw new StartError('config-invalid', {
          message: `${kind} ${JSON.stringify(registration?.id)}: ${problem ?? ('problem' in code && code.problem)}`,
          hint:
            own === undefined
              ? 'register { id, run } with a unique id, or with another version; docs/reference/authoring.md lists the options'
              : 'correct the registration; docs/reference/authoring.md lists its options',
        })
      }
      const { id, description = id } = registration
      const { onCrash, code: call } = code
      const target: RunTarget = { ...DEFAULTS, onCrash, ...optionsOf(registration), kind, id, description, call }
      targets.set(id, [...versionsOf(id), target])
    },
    get(id, version) {
      const [first] = versionsOf(id)
      if (first === undefined) throw perdureError(notFound, { hint: `list the registered ${kind}s with GET /${kind}s` })
      if (version === undefined) return first
      const target = versionsOf(id).find((one) => one.version === version)
      if (target !== undefined) return target
      throw perdureError('version-unknown', {
        message: `version ${version} of the ${kind} ${id} is not registered`,
        hint: `read its versions with GET /${kind}s/${id}, and use one of them or register this version again`,
      })
    },
    find: (id) => versionsOf(id)[0],
    versions: versionsOf,
    list: () =>
      [...targets.values()].flatMap((versions) => versions.slice(0, 1)).sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

const DEFAULTS = {
  concurrency: 'parallel',
  onBusy: 'reject',
  onBusyChoices: ['reject'],
  onBusyWaiting: 'start',
  recoveries: 2,
  tags: [],
  stallTimeoutMs: DEFAULT_STALL_TIMEOUT_MS,
} as const

const optionsOf = (registration: RegistrationOptions) => {
  const { timeout, retries, rateLimit, debounce, input, output, budget, concurrency, onBusyWaiting, ...more } =
    registration
  const { onCrash, effects, recoveries, tags, version, protocols, fromChat, stallTimeout, scorers } = more
  const onBusyChoices = onBusyChoicesOf(registration)
  return {
    retries: retryPolicyOf(retries),
    ...definedMembers({
      timeoutMs: toMilliseconds(timeout),
      stallTimeoutMs: toMilliseconds(stallTimeout),
      rateLimit: rateLimit && rateRuleOf(rateLimit),
      debounce: debounce && debounceRuleOf(debounce),
      budget: budget && budgetOf(budget),
      scoring: scorers && { use: scorers.use, sample: scorers.sample ?? 1 },
      ...{ input, output, concurrency, onBusyChoices, onBusy: onBusyChoices?.[0], onBusyWaiting },
      ...{ onCrash, effects, recoveries, tags, version, protocols, fromChat },
    }),
  }
}

const onBusyChoicesOf = ({ onBusy }: RegistrationOptions): readonly OnBusy[] | undefined =>
  typeof onBusy === 'string' ? [onBusy] : onBusy

const ON_CRASH: readonly unknown[] = ['retry', 'fail']

function problemOf(kind: RunKind, registration: RegistrationOptions): string | undefined {
  if (typeof registration?.id !== 'string' || !OPERATOR_ID.test(registration.id)) {
    return 'id must start with a letter or digit and contain at most 128 letters, digits, "_" or "-"'
  }
  const { version } = registration
  if (version !== undefined && !(typeof version === 'string' && OPERATOR_ID.test(version))) {
    return 'version must be a string that starts with a letter or digit and contains at most 128 letters, digits, "_" or "-"'
  }
  if (registration.description !== undefined && typeof registration.description !== 'string') {
    return 'description must be a string'
  }
  for (const name of ['input', 'output'] as const) {
    const schema = registration[name]
    if (schema !== undefined && typeof schema?.['~standard']?.validate !== 'function') {
      return `${name} must be a Standard Schema`
    }
  }
  return budgetProblemOf(registration.budget) ?? optionProblemOf(kind, registration) ?? flowProblemOf(registration)
}

function budgetProblemOf(budget: BudgetOptions | undefined): string | undefined {
  if (budget === undefined) return undefined
  const problem = durationProblem('budget.maxDuration', budget?.maxDuration, { min: 1 })
  if (problem !== undefined) return problem
  const { onExceeded, ...limits } = budgetOf(budget) ?? {}
  if (![undefined, 'fail', 'ask'].includes(onExceeded)) return "budget.onExceeded must be 'fail' or 'ask'"
  return isPlainObject(budget) && is(Budget, limits)
    ? undefined
    : 'budget must contain only the numbers tokens, costUsd and toolCalls, the duration maxDuration, and onExceeded'
}

const budgetOf = (budget: BudgetOptions): RunBudget =>
  budget?.maxDuration === undefined
    ? (budget as RunBudget)
    : { ...budget, maxDuration: toMilliseconds(budget.maxDuration) }

function onBusyProblemOf(kind: RunKind, registration: RegistrationOptions): string | undefined {
  const { onBusyWaiting = 'start', concurrency } = registration
  const isOfSession = kind === 'agent' && concurrency === 'session'
  if (!ON_BUSY_WAITING.includes(onBusyWaiting)) return `onBusyWaiting must be ${ON_BUSY_WAITING.join(', ')}`
  if (onBusyWaiting !== 'start' && !isOfSession) return "onBusyWaiting is for agents with concurrency: 'session'"
  const choices: unknown = onBusyChoicesOf(registration)
  if (choices === undefined) return undefined
  const isRight = Array.isArray(choices) && choices.length > 0 && choices.every((one) => ON_BUSY.includes(one))
  if (!isRight) return `onBusy must be ${ON_BUSY.join(', ')}, or a list of them`
  if (!choices.includes('steer') || isOfSession) return undefined
  return "onBusy: 'steer' is for agents with concurrency: 'session'"
}

function effectsProblemOf(kind: RunKind, effects: unknown): string | undefined {
  if (effects === undefined) return undefined
  if (kind !== 'agent') return 'effects is for agents'
  return effects === 'none' ? undefined : "effects must be 'none'; leave it out if the code has effects"
}

function optionProblemOf(kind: RunKind, registration: RegistrationOptions): string | undefined {
  const { onCrash = 'retry' } = registration
  if (!ON_CRASH.includes(onCrash)) return `onCrash must be ${ON_CRASH.join(', ')}`
  const { timeout, stallTimeout, retries, recoveries, protocols, fromChat } = registration
  return (
    effectsProblemOf(kind, registration.effects) ??
    onBusyProblemOf(kind, registration) ??
    durationProblem('timeout', timeout, { min: 1 }) ??
    durationProblem('stallTimeout', stallTimeout, { min: 1 }) ??
    retriesProblem(retries) ??
    recoveriesProblem(recoveries) ??
    (fromChat === undefined || typeof fromChat === 'function' ? undefined : 'fromChat must be a function') ??
    protocolsProblemOf(protocols) ??
    scoringProblemOf(registration.scorers)
  )
}

function protocolsProblemOf(protocols: unknown): string | undefined {
  if (protocols === undefined || protocols === false) return undefined
  const names: readonly string[] = PROTOCOL_NAMES
  const isRight = ([name, value]: [string, unknown]) =>
    value === undefined ||
    (names.includes(name) && typeof value === 'boolean') ||
    (name === 'errors' && (value === 'message' || typeof value === 'function'))
  if (isPlainObject(protocols) && Object.entries(protocols).every(isRight)) return undefined
  return `protocols must be false, or contain only the booleans ${names.join(', ')} and errors: 'message' or a function`
}
