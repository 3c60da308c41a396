import { AppError, definedMembers, type RunKind, StartError } from '@perdure/ports'
import { Budget, type ErrorCode, isPlainObject, OPERATOR_ID } from '@perdure/protocol'
import { is } from 'valibot'
import { flowProblemOf } from './check-flow.ts'
import { retryProblemOf } from './check-retry.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunTarget, RunTargets } from './run-target.ts'

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
   * @throws AppError `agent-not-found`, `workflow-not-found` or `version-unknown`
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
export interface TargetKindSpec<Registration> {
  readonly kind: RunKind
  readonly notFound: ErrorCode
  readonly recovery: RunTarget['recovery']
  /** Name of the method that holds the code, as written in a registration. */
  readonly method: string
  callOf(registration: Registration): RunTarget['call'] | undefined
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

export function createRegistry<Registration extends RegistrationOptions>(
  nature: TargetKindSpec<Registration>,
): TargetRegistry<Registration> {
  const targets = new Map<string, readonly RunTarget[]>()
  const { kind, notFound, recovery, method, callOf } = nature

  const versionsOf = (id: string) => targets.get(id) ?? []

  const takenProblemOf = ({ id, version }: RegistrationOptions) => {
    if (versionsOf(id).every((target) => target.version !== version)) return undefined
    return version === undefined ? 'this id is already registered' : `version ${version} is already registered`
  }

  return {
    register(registration) {
      const problem = problemOf(registration) ?? takenProblemOf(registration)
      const call = problem === undefined ? callOf(registration) : undefined
      if (call === undefined) {
        throw new StartError('config-invalid', {
          message: `${kind} ${JSON.stringify(registration?.id)}: ${problem ?? `${method} must be a function`}`,
          hint: `register { id, description, ${kind}: { id, ${method.split('.')[1]} } } with a unique id, or with another version; docs/reference/authoring.md lists the options`,
        })
      }
      const { id, description } = registration
      const options = definedMembers(optionsOf(registration))
      const target: RunTarget = { ...DEFAULTS, recovery, ...options, kind, id, description, call }
      targets.set(id, [...versionsOf(id), target])
    },
    get(id, version) {
      const [first] = versionsOf(id)
      if (first === undefined) throw new AppError(notFound, { hint: `list the registered ${kind}s with GET /${kind}s` })
      if (version === undefined) return first
      const target = versionsOf(id).find((one) => one.version === version)
      if (target !== undefined) return target
      throw new AppError('version-unknown', {
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

const DEFAULTS = { concurrency: 'parallel', onBusy: 'reject', maxAttempts: 3, tags: [] } as const

const optionsOf = (registration: RegistrationOptions) => {
  const { input, output, timeoutMs, budget, concurrency, onBusy, rateLimit, debounce, ...more } = registration
  const { recovery, maxAttempts, retry, tags, version, interop } = more
  return {
    ...{ input, output, timeoutMs, budget, concurrency, onBusy, rateLimit, debounce },
    ...{ recovery, maxAttempts, retry, tags, version, interop },
  }
}

const CHOICES = {
  onBusy: ['reject', 'queue', 'interrupt'],
  recovery: ['fail', 'resume'],
} as const

function problemOf(registration: RegistrationOptions): string | undefined {
  if (typeof registration?.id !== 'string' || !OPERATOR_ID.test(registration.id)) {
    return 'id must start with a letter or digit and contain at most 128 letters, digits, "_" or "-"'
  }
  const { version } = registration
  if (version !== undefined && !(typeof version === 'string' && OPERATOR_ID.test(version))) {
    return 'version must be a string that starts with a letter or digit and contains at most 128 letters, digits, "_" or "-"'
  }
  if (typeof registration.description !== 'string') return 'description must be a string'
  for (const name of ['input', 'output'] as const) {
    const schema = registration[name]
    if (schema !== undefined && typeof schema?.['~standard']?.validate !== 'function') {
      return `${name} must be a Standard Schema`
    }
  }
  if (registration.budget !== undefined && !is(Budget, registration.budget)) {
    return 'budget must contain only the numbers tokens, costUsd, toolCalls and wallClockMs, as in a request body'
  }
  return optionProblemOf(registration) ?? flowProblemOf(registration) ?? retryProblemOf(registration.retry)
}

function optionProblemOf(registration: RegistrationOptions): string | undefined {
  for (const [name, values] of Object.entries(CHOICES)) {
    const value = registration[name as keyof typeof CHOICES]
    if (value !== undefined && !(values as readonly string[]).includes(value))
      return `${name} must be ${values.join(', ')}`
  }
  for (const name of ['maxAttempts', 'timeoutMs'] as const) {
    const value = registration[name]
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) return `${name} must be a positive integer`
  }
  return interopProblemOf(registration.interop)
}

function interopProblemOf(interop: unknown): string | undefined {
  if (interop === undefined || interop === false) return undefined
  const isRight = ([name, value]: [string, unknown]) =>
    value === undefined || (name === 'input' ? typeof value === 'function' : typeof value === 'boolean')
  const known: readonly string[] = ['aiSdk', 'agUi', 'openai', 'mcp', 'input']
  const isObject =
    isPlainObject(interop) && Object.entries(interop).every((one) => known.includes(one[0]) && isRight(one))
  return isObject
    ? undefined
    : 'interop must be false, or contain only the booleans aiSdk, agUi, openai and mcp, and a function input'
}
