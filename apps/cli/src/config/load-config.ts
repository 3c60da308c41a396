import { dirname, resolve } from 'node:path'
import type { AgentRegistration, PriceUsage, TriggerRegistration, WorkflowRegistration } from '@perdure/core'
import { type ConsolidatorPhases, type Embedder, StartError } from '@perdure/ports'
import { CONSOLIDATOR_PHASES, isPlainObject, type ServerConfigInput } from '@perdure/protocol'
import type { Adapters, Hooks, InMemorySkill, McpServerRegistration, WebhookRegistration } from '@perdure/server-app'
import { type EnvOverride, readEnvOverrides, unknownVariables } from './env-overrides.ts'
import { findConfigFile } from './find-config-file.ts'
import { loadConfigModule, type PlainObject } from './load-config-module.ts'

export interface ConfigFlags {
  readonly config?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
}

export interface ConfigRequest {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags: ConfigFlags
  /**
   * Called with the configuration file before it is read, and with each project file it imports, including later
   * dynamic imports.
   */
  readonly onImport?: ((file: string) => void) | undefined
}

/** The merged configuration: flags override the environment, which overrides the file. Not yet validated. */
export interface LoadedConfig {
  readonly input: ServerConfigInput
  readonly agents: readonly AgentRegistration[]
  readonly workflows: readonly WorkflowRegistration[]
  readonly triggers: readonly TriggerRegistration[]
  readonly skills: readonly InMemorySkill[]
  readonly mcpServers: readonly McpServerRegistration[]
  readonly webhookEndpoints: readonly WebhookRegistration[]
  readonly embedder: Embedder | undefined
  readonly priceUsage: PriceUsage | undefined
  readonly consolidator: Partial<ConsolidatorPhases>
  readonly hooks: Hooks | undefined
  readonly adapters: Partial<Adapters>
  /** Base of relative paths in the configuration. */
  readonly configDir: string
  readonly configPath: string | undefined
  /** Working directory of the command. */
  readonly cwd: string
  /** Fields set by flags. */
  readonly flagged: readonly string[]
  readonly overrides: readonly EnvOverride[]
  readonly warnings: readonly string[]
}

/** @throws StartError `config-invalid` */
export async function loadConfig({ cwd, env, flags, onImport }: ConfigRequest): Promise<LoadedConfig> {
  const configPath = findConfigFile(cwd, flags.config)
  const { agents, workflows, triggers, skills, mcpServers, webhookEndpoints, hooks, adapters, embedder, ...rest } =
    configPath === undefined ? {} : await loadConfigModule(configPath, onImport)
  const areSkills = Array.isArray(skills)
  const { members: withModels, phases } = splitConsolidator(rest)
  const { members, priceUsage } = splitModels(withModels)
  const { registrations, fields } = splitWorkflows(workflows)
  const sections = { ...members, ...fields, ...(areSkills || skills === undefined ? {} : { skills }) }
  const overrides = readEnvOverrides(env)
  const flagged = [
    { path: 'server.host', value: flags.host },
    { path: 'server.port', value: flags.port },
  ].filter(({ value }) => value !== undefined)
  const input = [...overrides, ...flagged].reduce((tree, { path, value }) => withValue(tree, path, value), sections)
  return {
    input: input as ServerConfigInput,
    agents: checkedList<AgentRegistration>('agents', agents),
    workflows: checkedList<WorkflowRegistration>('workflows', registrations),
    triggers: checkedList<TriggerRegistration>('triggers', triggers),
    skills: areSkills ? (skills as readonly InMemorySkill[]) : [],
    mcpServers: checkedList<McpServerRegistration>('mcpServers', mcpServers),
    webhookEndpoints: checkedList<WebhookRegistration>('webhookEndpoints', webhookEndpoints),
    embedder: embedder as Embedder | undefined,
    priceUsage,
    consolidator: phases,
    hooks: checkedObject('hooks', hooks) as Hooks | undefined,
    adapters: (checkedObject('adapters', adapters) ?? {}) as Partial<Adapters>,
    configDir: configPath === undefined ? cwd : dirname(configPath),
    configPath,
    cwd,
    flagged: flagged.map(({ path }) => path),
    overrides,
    warnings: unknownVariables(env, referencedVariables([input, mcpServers, webhookEndpoints])).map(
      (name) => `the environment variable ${name} is unknown and has no effect`,
    ),
  }
}

export const databasePath = (path: string, configDir: string): string =>
  path === ':memory:' ? path : resolve(configDir, path)

/** Separates the registrations in the section `workflows` from its configuration fields. An array holds registrations. */
function splitWorkflows(workflows: unknown): { readonly registrations: unknown; readonly fields: PlainObject } {
  if (!isPlainObject(workflows)) return { registrations: workflows, fields: {} }
  const { registrations, ...fields } = workflows
  return { registrations, fields: { workflows: fields } }
}

/** Separates the phase functions in the section `consolidator` from its configuration fields. */
function splitConsolidator({ consolidator, ...members }: PlainObject): {
  readonly members: PlainObject
  readonly phases: Partial<ConsolidatorPhases>
} {
  if (!isPlainObject(consolidator)) return { members: { ...members, consolidator }, phases: {} }
  const isPhase = ([name]: readonly [string, unknown]) => CONSOLIDATOR_PHASES.some((phase) => phase === name)
  const entries = Object.entries(consolidator)
  const fields = Object.fromEntries(entries.filter((entry) => !isPhase(entry)))
  return { members: { ...members, consolidator: fields }, phases: Object.fromEntries(entries.filter(isPhase)) }
}

/** Separates a function that returns costs from the fields of the section `models`. */
function splitModels(members: PlainObject): { readonly members: PlainObject; readonly priceUsage?: PriceUsage } {
  const { models } = members
  if (!isPlainObject(models) || typeof models.prices !== 'function') return { members }
  const { prices, ...fields } = models
  return { members: { ...members, models: fields }, priceUsage: prices as PriceUsage }
}

/** A copy with `value` at the dotted path. A non-object on the path is left unchanged, for the schema to reject. */
export function withValue(tree: PlainObject, path: string, value: unknown): PlainObject {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) return { ...tree, [name]: value }
  const child = tree[name] ?? {}
  return isPlainObject(child) ? { ...tree, [name]: withValue(child, rest.join('.'), value) } : tree
}

const EXAMPLES = {
  agents: '{ id, description, agent: { id, run } }',
  workflows: '{ id, description, workflow: { id, execute } }',
  triggers: '{ id, kind, target: { agentId }, … }',
  mcpServers: '{ id, command, args }',
  webhookEndpoints: '{ id, url, secretRef, events }',
} as const

function checkedList<Item>(name: keyof typeof EXAMPLES, value: unknown): readonly Item[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  throw new StartError('config-invalid', {
    message: `${name}: expected an array`,
    hint: `write ${name}: [${EXAMPLES[name]}]`,
  })
}

function checkedObject(name: string, value: unknown): PlainObject | undefined {
  if (value === undefined || isPlainObject(value)) return value
  throw new StartError('config-invalid', { message: `${name}: expected an object`, hint: `fix or remove ${name}` })
}

/** Names of all `env:NAME` references in the configuration. */
function referencedVariables(value: unknown): ReadonlySet<string> {
  if (typeof value === 'string') return new Set(value.startsWith('env:') ? [value.slice('env:'.length)] : [])
  if (typeof value !== 'object' || value === null) return new Set()
  return new Set(Object.values(value).flatMap((member) => [...referencedVariables(member)]))
}
