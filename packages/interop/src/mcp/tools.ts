import type { RunTargets } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import { type ChatLimits, chatInput, targetInput } from '../chat/chat-input.ts'
import { isOffered } from '../chat/offered-agent.ts'
import { mayStart } from '../chat/rights.ts'
import type { McpCall } from './mcp-call.ts'
import { SERVER_TOOLS, type ToolDescription } from './server-tools.ts'

export type Target = ReturnType<RunTargets['get']>

type JsonSchema = Readonly<Record<string, unknown>>

export interface ToolsDeps extends ChatLimits {
  /** The default versions of the registered agents and workflows. */
  readonly registered: () => readonly Target[]
  /** The JSON Schema of the input; `undefined` if there is none. */
  readonly inputSchemaOf: (target: Target) => JsonSchema | undefined
}

type Caller = Pick<McpCall, 'principal' | 'agentId'>

/** The tools of this server, as one caller sees them. */
export interface Tools {
  list(caller: Caller): readonly ToolDescription[]
  /** The agent or workflow behind the tool; `undefined` if the caller may not use it or it does not exist. */
  find(caller: Caller, name: string): Target | undefined
  /** @throws PerdureError `agent-not-found` if the caller names an agent that does not exist or is hidden from MCP clients */
  check(caller: Caller): void
  /** The input of a run from the arguments of a call. @throws PerdureError `invalid-input` */
  inputOf(target: Target, args: Readonly<Record<string, unknown>>): Promise<unknown>
}

export function createTools({ registered, inputSchemaOf, ...limits }: ToolsDeps): Tools {
  const named = (): ReadonlyMap<string, Target> => {
    const tools = new Map<string, Target>()
    for (const target of registered()) {
      if (!isOffered(target, 'mcp')) continue
      const isTaken = tools.has(target.id) || RESERVED.test(target.id)
      tools.set(isTaken ? `${target.kind}_${target.id}` : target.id, target)
    }
    return tools
  }

  const objectSchema = (target: Target): JsonSchema | undefined => {
    const schema = inputSchemaOf(target)
    return schema?.type === 'object' ? schema : undefined
  }

  const describe = (name: string, target: Target): ToolDescription => ({
    name,
    ...(target.description === '' ? {} : { description: target.description }),
    inputSchema: objectSchema(target) ?? (takesText(target) ? TEXT_SCHEMA : ANY_SCHEMA),
    annotations: { openWorldHint: true, destructiveHint: target.tags.includes('destructive') },
  })

  /** The tools of the server of one agent are that agent, and those for its runs. */
  const isFor = ({ principal, agentId }: Caller, { kind, id }: Target): boolean =>
    (agentId === undefined || (kind === 'agent' && id === agentId)) && mayStart(principal, { kind, id })

  return {
    list: (caller) =>
      [...named()]
        .filter(([, target]) => isFor(caller, target))
        .map(([name, target]) => describe(name, target))
        .concat(SERVER_TOOLS)
        .sort((one, other) => (one.name < other.name ? -1 : 1)),
    find(caller, name) {
      const target = named().get(name)
      return target !== undefined && isFor(caller, target) ? target : undefined
    },
    check(caller) {
      const { agentId } = caller
      if (agentId === undefined || [...named().values()].some((target) => isFor(caller, target))) return
      throw perdureError('agent-not-found', { hint: 'list the registered agents with GET /agents' })
    },
    async inputOf(target, args) {
      const isText = typeof args.text === 'string' && Object.keys(args).length === 1
      if (objectSchema(target) !== undefined || !isText || !takesText(target)) return args
      const chat = chatInput(limits, [{ role: 'user', content: [{ type: 'text', text: String(args.text) }] }])
      return targetInput(target, chat)
    },
  }
}

/** The prefix of the tools that the server has besides agents and workflows. */
const RESERVED = /^perdure_/

const ANY_SCHEMA = { type: 'object' }

const TEXT_SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string', description: 'The message to the agent.' } },
  required: ['text'],
}

/** An agent without a schema is called as in a chat; a workflow without a schema takes every object. */
const takesText = ({ kind, input }: Target): boolean => kind === 'agent' || input !== undefined
