import type { AgentRegistration } from '@perdure/core'
import type { jsonSchema, ModelMessage, tool } from 'ai'
import type { chatAgent } from '../chat-agent.ts'
import type { ScriptedCall, scriptedModel } from '../testing.ts'

/** What the agent needs; the end-to-end tests pass the built packages. */
export interface ShopParts {
  readonly chatAgent: typeof chatAgent
  readonly scriptedModel: typeof scriptedModel
  readonly tool: typeof tool
  readonly jsonSchema: typeof jsonSchema
  /** Called with the lines of each prompt. */
  readonly onPrompt: (lines: readonly string[]) => void
  /** Called when a tool has its effect. */
  readonly onEffect: (key: string) => void
  /** Resolves when the turn with this text may go on. */
  readonly released: (text: string) => Promise<void>
  readonly compacts: boolean
}

/** Version 7 wraps what a message holds. */
type Data = Uint8Array | string | { readonly type: string; readonly data: Uint8Array | string }

interface Part {
  readonly type: string
  readonly text?: string
  readonly data?: Data
  readonly toolName?: string
  readonly toolCallId?: string
  readonly output?: { readonly type: string }
}

export const shopId = (compacts: boolean): string => (compacts ? 'brief-shop' : 'shop')

const SUMMARY = 'summary of '

const textOfData = (data: Data = ''): string => {
  if (typeof data === 'object' && 'data' in data) return textOfData(data.data)
  const bytes = typeof data === 'string' ? Uint8Array.from(atob(data), (char) => char.charCodeAt(0)) : data
  return new TextDecoder().decode(bytes).trimEnd()
}

function lineOf(role: string, part: Part): readonly string[] {
  const { type, text = '', toolName, output } = part
  if (type === 'tool-call') return [`c ${toolName}`]
  if (type === 'tool-result') return [`r ${output?.type}`]
  if (type === 'file') return [`f ${textOfData(part.data)}`]
  return text.startsWith(SUMMARY) ? JSON.parse(text.slice(SUMMARY.length)) : [`${role[0]} ${text}`]
}

/** The prompt as lines, with what its summaries stand for. Calls and results that have no partner are lines too. */
export function linesOf(messages: readonly { readonly role: string; readonly content: unknown }[]): readonly string[] {
  const open = new Set<string>()
  const unanswered = () => [...open].map((id) => `the call ${id} has no result`)
  const next = (role: string, part: Part): readonly string[] => {
    const { type, toolCallId = '' } = part
    if (type === 'tool-call') open.add(toolCallId)
    const isAlone = type === 'tool-result' && !open.delete(toolCallId)
    return [...(isAlone ? [`the result of ${toolCallId} has no call`] : []), ...lineOf(role, part)]
  }
  const lines = messages.flatMap(({ role, content }) => [
    ...(role === 'tool' ? [] : unanswered()),
    ...partsOf(content).flatMap((part) => next(role, part)),
  ])
  return [...lines, ...unanswered()]
}

const partsOf = (content: unknown): readonly Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly Part[])

/** Sums up all that comes before the newest message of the user. */
function compact(messages: readonly ModelMessage[]): ModelMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const older = messages.slice(0, last)
  if (older.length === 0) return [...messages]
  return [{ role: 'user', content: SUMMARY + JSON.stringify(linesOf(older)) }, ...messages.slice(last)]
}

/** The newest text of the user. Messages of one turn can be one message of the prompt. */
function newestText({ prompt }: ScriptedCall): string {
  const content = prompt.findLast(({ role }) => role === 'user')?.content as readonly Part[]
  return content.findLast(({ type }) => type === 'text')?.text ?? ''
}

/** An agent whose answers follow from the newest message: `look 3` calls the tool `look` once. */
export function shopAgent(parts: ShopParts): AgentRegistration {
  const { chatAgent, scriptedModel, tool, jsonSchema, onPrompt, onEffect, released, compacts } = parts
  const inputSchema = jsonSchema<{ readonly text: string }>({ type: 'object' })
  const execute = async ({ text }: { readonly text: string }) => {
    onEffect(text)
    if (text.startsWith('hold')) await released(text)
    return { ok: true }
  }
  const model = scriptedModel(
    (call) => {
      const text = newestText(call)
      const [kind = '', number] = text.split(' ')
      if (kind === 'plain' || call.toolResults.length > 0) return `re: ${text}`
      return { toolName: kind, input: { text }, toolCallId: `call_${number}` }
    },
    { onCall: ({ prompt }) => onPrompt(linesOf(prompt)) },
  )
  return chatAgent({
    ...{ id: shopId(compacts), model, onBusy: ['queue', 'steer', 'interrupt'], onCrash: 'retry', recoveries: 1_000 },
    ...(compacts ? { history: { maxTokens: 150, compact } } : {}),
    tools: {
      look: tool({ inputSchema, execute }),
      hold: tool({ inputSchema, execute }),
      pay: tool({ inputSchema, execute, needsApproval: true }),
      ask: tool({ inputSchema }),
    },
  })
}
