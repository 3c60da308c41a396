import type { AgentRegistration, TriggerRegistration, WorkflowRegistration } from '@perdure/core'
import type { InMemorySkill } from '@perdure/in-memory'
import { type ConsolidatorPhases, type Embedder, StartError } from '@perdure/ports'
import { configFields, nearest, type ServerConfig, type ServerConfigInput, ServerConfigSchema } from '@perdure/protocol'
import * as v from 'valibot'
import type { Adapters } from './adapters.ts'
import type { Hooks } from './hooks.ts'
import type { McpServerRegistration } from './mcp-servers.ts'
import type { WithTypedRegistrations } from './typed-registrations.ts'

/** The default export of a configuration module: configuration and registrations in one object. */
export type PerdureConfig = Omit<ServerConfigInput, 'skills' | 'consolidator'> & {
  /** The section of the configuration; or skills that have no folder. */
  readonly skills?: ServerConfigInput['skills'] | readonly InMemorySkill[]
  /** Its configuration and, in the same object, phases of one's own. */
  readonly consolidator?: ServerConfigInput['consolidator'] & Partial<ConsolidatorPhases>
  /** Lets search find what means the same in other words. */
  readonly embedder?: Embedder
  readonly agents?: readonly AgentRegistration[]
  readonly workflows?: readonly WorkflowRegistration[]
  readonly triggers?: readonly TriggerRegistration[]
  readonly mcpServers?: readonly McpServerRegistration[]
  readonly hooks?: Hooks
  /** Any adapter, to swap it. */
  readonly adapters?: Partial<Adapters>
}

/**
 * Typed identity for configuration modules; a plain object is as good. A schema in `input` gives the code of its agent or workflow
 * the type of its input, which is `unknown` without one.
 */
export const defineConfig = <Agents extends readonly unknown[], Workflows extends readonly unknown[]>(
  config: WithTypedRegistrations<PerdureConfig, Agents, Workflows>,
): PerdureConfig => config

/**
 * Checks a configuration and fills in every default.
 *
 * @throws StartError `config-invalid` that names the field, never its value
 */
export function parseConfig(input: unknown): ServerConfig {
  const parsed = v.safeParse(ServerConfigSchema, input ?? {})
  if (!parsed.success) {
    throw new StartError('config-invalid', {
      message: parsed.issues.map(describe).join('; '),
      hint: 'see the configuration reference for every field and its default',
    })
  }
  return parsed.output
}

function describe(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue) ?? 'configuration'
  if (issue.type === 'strict_object' && issue.expected === 'never') return `${path}: unknown field${proposalFor(path)}`
  return issue.type === 'regex' ? `${path}: ${issue.message}` : `${path}: expected ${issue.expected ?? issue.type}`
}

/** The nearest field of the table, when the name looks like a slip of the hand. */
function proposalFor(path: string): string {
  const known = configFields.flatMap((field) => prefixesOf(field.path))
  const near = nearest(path, [...new Set(known)])
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

const prefixesOf = (path: string): readonly string[] =>
  path.split('.').map((_, at, names) => names.slice(0, at + 1).join('.'))
