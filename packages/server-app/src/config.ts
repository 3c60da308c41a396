import type {
  AgentDefinition,
  AgentRegistration,
  PriceUsage,
  TriggerRegistration,
  WorkflowDefinition,
  WorkflowRegistration,
} from '@perdure/core'
import type { InMemorySkill } from '@perdure/in-memory'
import { type ConsolidatorPhases, type Embedder, StartError } from '@perdure/ports'
import { configFields, nearest, type ServerConfig, type ServerConfigInput, ServerConfigSchema } from '@perdure/protocol'
import * as v from 'valibot'
import type { Hooks } from './hooks.ts'
import type { Adapters } from './start/adapters.ts'
import type { McpServerRegistration } from './start/mcp-servers.ts'
import { checkStorageFields } from './start/storage-kind.ts'
import type { WebhookRegistration } from './start/webhook-endpoints.ts'
import type { AgentList, DefinedAgents, DefinedWorkflows, WorkflowList } from './typed-registrations.ts'

/** The default export of a configuration module: configuration and registrations in one object. */
export type PerdureConfig = Omit<ServerConfigInput, 'skills' | 'consolidator' | 'workflows' | 'models'> & {
  /** The `models` section of the configuration; `prices` can also be a function that returns the cost of a model call. */
  readonly models?: Omit<NonNullable<ServerConfigInput['models']>, 'prices'> & {
    readonly prices?: NonNullable<ServerConfigInput['models']>['prices'] | PriceUsage
  }
  /** The `skills` section of the configuration, or a list of skills defined in code. */
  readonly skills?: ServerConfigInput['skills'] | readonly InMemorySkill[]
  /** The `consolidator` section of the configuration, and phases that replace the defaults. */
  readonly consolidator?: ServerConfigInput['consolidator'] & Partial<ConsolidatorPhases>
  /** Enables search by meaning in addition to search by words. */
  readonly embedder?: Embedder
  readonly agents?: readonly AgentRegistration[]
  /** The workflows, or the `workflows` section of the configuration together with them. */
  readonly workflows?: readonly WorkflowRegistration[] | WorkflowsSection
  readonly triggers?: readonly TriggerRegistration[]
  readonly mcpServers?: readonly McpServerRegistration[]
  readonly webhookEndpoints?: readonly WebhookRegistration[]
  readonly hooks?: Hooks
  /** Replaces adapters. */
  readonly adapters?: Partial<Adapters>
}

/** The `workflows` section of the configuration, with the workflows as a member. */
export type WorkflowsSection = ServerConfigInput['workflows'] & {
  readonly registrations?: readonly WorkflowRegistration[]
}

type List = readonly unknown[]
type Unlisted = Omit<PerdureConfig, 'agents' | 'workflows'>

/** A configuration whose type knows its agents and workflows. */
export type DefinedConfig<Agents, Workflows> = Unlisted & { readonly agents?: Agents; readonly workflows?: Workflows }

/** The section `workflows` with the list of workflows as a member. */
type SectionWith<Workflows> = Omit<WorkflowsSection, 'registrations'> & { readonly registrations?: Workflows }

/**
 * Returns its argument, typed; a plain object works as well. A schema in `input` determines what the code of an agent or
 * workflow gets, and a schema in `output` what it returns; without a schema, the type is `unknown`. `createClient` of
 * `@perdure/client` takes the type of the configuration as its type parameter.
 */
export function defineConfig<
  const Agents extends readonly AgentDefinition[],
  const Workflows extends readonly WorkflowDefinition[],
>(
  config: Unlisted & {
    readonly agents?: Agents
    readonly workflows?: Workflows | SectionWith<Workflows>
  },
): DefinedConfig<Agents, Workflows>
export function defineConfig<
  AgentInputs extends List,
  const AgentIds extends readonly string[],
  AgentIn extends List,
  AgentOut extends List,
  WorkflowInputs extends List,
  const WorkflowIds extends readonly string[],
  WorkflowIn extends List,
  WorkflowOut extends List,
>(
  config: Unlisted & {
    readonly agents?: AgentList<AgentInputs, AgentIds, AgentIn, AgentOut>
    readonly workflows: SectionWith<WorkflowList<WorkflowInputs, WorkflowIds, WorkflowIn, WorkflowOut>>
  },
): DefinedConfig<
  DefinedAgents<AgentInputs, AgentIds, AgentIn, AgentOut>,
  SectionWith<DefinedWorkflows<WorkflowInputs, WorkflowIds, WorkflowIn, WorkflowOut>>
>
export function defineConfig<
  AgentInputs extends List,
  const AgentIds extends readonly string[],
  AgentIn extends List,
  AgentOut extends List,
  WorkflowInputs extends List,
  const WorkflowIds extends readonly string[],
  WorkflowIn extends List,
  WorkflowOut extends List,
>(
  config: Unlisted & {
    readonly agents?: AgentList<AgentInputs, AgentIds, AgentIn, AgentOut>
    readonly workflows?: WorkflowList<WorkflowInputs, WorkflowIds, WorkflowIn, WorkflowOut>
  },
): DefinedConfig<
  DefinedAgents<AgentInputs, AgentIds, AgentIn, AgentOut>,
  DefinedWorkflows<WorkflowInputs, WorkflowIds, WorkflowIn, WorkflowOut>
>
export function defineConfig(config: object): object {
  return config
}

/**
 * Validates a configuration and fills in every default.
 *
 * @throws StartError `config-invalid` that names the field, never its value; `pepper-missing`
 */
export function parseConfig(input: unknown): ServerConfig {
  const parsed = v.safeParse(ServerConfigSchema, input ?? {})
  if (!parsed.success) {
    throw new StartError('config-invalid', {
      message: parsed.issues.map(describe).join('; '),
      hint: 'look up the field in the configuration reference',
    })
  }
  checkStorageFields(parsed.output)
  return parsed.output
}

function describe(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue) ?? 'configuration'
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return `${path}: unknown field${suggestionFor(path)}`
  return issue.type === 'regex' || issue.message.startsWith('must be')
    ? `${path}: ${issue.message}`
    : `${path}: expected ${issue.expected ?? issue.type}`
}

/** Suggests the nearest known field if the path looks like a typo. */
function suggestionFor(path: string): string {
  const known = configFields.flatMap((field) => prefixesOf(field.path))
  const near = nearest(path, [...new Set(known)])
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

const prefixesOf = (path: string): readonly string[] =>
  path.split('.').map((_, at, names) => names.slice(0, at + 1).join('.'))
