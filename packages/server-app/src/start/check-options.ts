import type { AgentRegistration, RegistrationOptions, WorkflowRegistration } from '@perdure/core'
import { type ConsolidatorPhases, type Embedder, StartError } from '@perdure/ports'
import { isPlainObject, OPERATOR_ID } from '@perdure/protocol'
import type { Hooks } from '../hooks.ts'
import type { ServerOptions } from '../server-options.ts'
import type { Adapters } from './adapters.ts'

/** Expected kind of a member. Checked at run time, since configuration modules may be plain JavaScript. */
type Kind = keyof typeof EXPECTED

const OPTIONS = {
  config: 'anything',
  agents: 'array',
  workflows: 'array',
  triggers: 'array',
  skills: 'array',
  mcpServers: 'array',
  webhookEndpoints: 'array',
  embedder: 'object',
  priceUsage: 'function',
  consolidator: 'object',
  hooks: 'object',
  adapters: 'object',
  configDir: 'anything',
  originOf: 'function',
} as const satisfies Record<keyof ServerOptions, Kind>

const HOOKS = {
  beforeStart: 'function',
  onReady: 'function',
  beforeShutdown: 'function',
} as const satisfies Record<keyof Hooks, Kind>

const CONSOLIDATOR = {
  extract: 'function',
  merge: 'function',
  decay: 'function',
} as const satisfies Record<keyof ConsolidatorPhases, Kind>

const ADAPTERS = {
  storage: 'object',
  clock: 'object',
  timers: 'object',
  ids: 'object',
  digest: 'object',
  logger: 'object',
  meter: 'object',
  tracer: 'object',
  cronSchedule: 'object',
  secretResolvers: 'array',
  blobs: 'object',
  skills: 'object',
  mcp: 'object',
  jwtVerifier: 'object',
  hookVerifiers: 'object',
  webhookSender: 'object',
  remoteFiles: 'object',
  tickets: 'object',
  cluster: 'object',
  lockouts: 'object',
  watchdog: 'object',
  droppedLogLines: 'function',
} as const satisfies Record<keyof Adapters, Kind>

const REGISTRATION = {
  id: 'anything',
  version: 'anything',
  description: 'anything',
  input: 'anything',
  output: 'anything',
  concurrency: 'anything',
  onBusy: 'anything',
  onBusyWaiting: 'anything',
  rateLimit: 'anything',
  debounce: 'anything',
  onCrash: 'anything',
  effects: 'anything',
  recoveries: 'anything',
  budget: 'anything',
  timeout: 'anything',
  stallTimeout: 'anything',
  tags: 'array',
  protocols: 'anything',
  fromChat: 'anything',
  scorers: 'anything',
  retries: 'anything',
} as const satisfies Record<keyof RegistrationOptions, Kind>

const CODE = { kind: 'anything', run: 'anything' } as const
const AGENT = { ...REGISTRATION, ...CODE, agent: 'anything' } as const satisfies Record<keyof AgentRegistration, Kind>
const WORKFLOW = { ...REGISTRATION, ...CODE, workflow: 'anything' } as const satisfies Record<
  keyof WorkflowRegistration,
  Kind
>

/** @throws StartError `config-invalid` that names the member at fault */
export function checkOptions(options: ServerOptions): void {
  checkMembers('', options, OPTIONS)
  if (options.hooks !== undefined) checkMembers('hooks', options.hooks, HOOKS)
  if (options.consolidator !== undefined) checkMembers('consolidator', options.consolidator, CONSOLIDATOR)
  if (options.embedder !== undefined) checkEmbedder(options.embedder)
  if (options.adapters !== undefined) checkAdapters(options.adapters)
}

/** An embedder may be a class instance, so unknown members are allowed. */
function checkEmbedder(embedder: Embedder): void {
  const { name, dimensions, embed } = embedder
  if (typeof name !== 'string' || name === '' || name.length > 128) {
    throw invalid('embedder.name', 'a string of 1 to 128 characters')
  }
  if (!Number.isSafeInteger(dimensions) || dimensions < 1)
    throw invalid('embedder.dimensions', 'a whole number above 0')
  if (typeof embed !== 'function') throw invalid('embedder.embed', 'a function')
}

/** @throws StartError `config-invalid` */
export const checkAdapters = (adapters: Partial<Adapters>): void => checkMembers('adapters', adapters, ADAPTERS)

/** Checks what the registry does not: unknown members, tags and a second id. @throws StartError `config-invalid` */
export function checkRegistration(
  kind: 'agent' | 'workflow',
  registration: AgentRegistration | WorkflowRegistration,
): void {
  if (!isPlainObject(registration)) throw notAnObject(kind, registration)
  const path = `${kind} ${JSON.stringify(registration.id)}`
  checkMembers(path, registration, kind === 'agent' ? AGENT : WORKFLOW)
  checkInnerId(kind, registration)
  if (registration.tags?.some((tag) => typeof tag !== 'string')) throw invalid(`${path}: tags`, 'an array of strings')
}

const EXAMPLES = {
  agent: 'made by defineAgent({ id, run })',
  workflow: 'made by defineWorkflow({ id, run })',
} as const

function notAnObject(kind: keyof typeof EXAMPLES, given: unknown): StartError {
  const isFunction = typeof given === 'function'
  const what = isFunction ? `the function ${given.name || '(without a name)'}` : nameOfType(given)
  return new StartError('config-invalid', {
    message: `${kind}s: expected an object ${EXAMPLES[kind]}, got ${what}`,
    hint: isFunction ? `put the function into an object: ${EXAMPLES[kind]}` : `register ${EXAMPLES[kind]}`,
  })
}

function nameOfType(given: unknown): string {
  if (given === undefined || given === null) return `${given}; is it imported correctly?`
  if (typeof given !== 'object') return `a ${typeof given}`
  return Array.isArray(given) ? 'an array' : 'an instance of a class'
}

/**
 * The code may have an id of its own, which must not differ: only the id of the registration counts. The registry
 * rejects an invalid id of the registration.
 */
function checkInnerId(kind: 'agent' | 'workflow', registration: AgentRegistration | WorkflowRegistration): void {
  const { [kind]: code } = registration as { readonly [Kind in typeof kind]?: { readonly id?: string } | undefined }
  const isValid = typeof registration.id === 'string' && OPERATOR_ID.test(registration.id)
  if (!isValid || code?.id === undefined || code.id === registration.id) return
  throw new StartError('config-invalid', {
    message: `${kind} ${JSON.stringify(registration.id)}: ${kind}.id is ${JSON.stringify(code.id)}`,
    hint: `remove ${kind}.id, or set both ids to the same text`,
  })
}

function checkMembers(parent: string, value: unknown, members: Readonly<Record<string, Kind>>): void {
  if (!isPlainObject(value)) throw invalid(parent || 'options', 'an object')
  for (const [name, member] of Object.entries(value)) {
    const path = parent === '' ? name : `${parent}.${name}`
    const kind = Object.hasOwn(members, name) ? members[name] : undefined
    if (kind === undefined) throw unknown(path, Object.keys(members))
    if (member !== undefined && !IS[kind](member)) throw invalid(path, EXPECTED[kind])
  }
}

const EXPECTED = { object: 'an object', array: 'an array', function: 'a function', anything: 'a value' } as const

const IS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  // An adapter may be a class instance.
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  function: (value) => typeof value === 'function',
  anything: () => true,
}

const invalid = (path: string, expected: string) =>
  new StartError('config-invalid', {
    message: `${path}: expected ${expected}`,
    hint: `set it to ${expected}, or remove it`,
  })

const unknown = (path: string, known: readonly string[]) =>
  new StartError('config-invalid', {
    message: `${path}: unknown member`,
    hint: `use one of ${known.join(', ')}`,
  })
