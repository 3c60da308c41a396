import type { ModelMessage } from 'ai'
import type { Durable } from '../durable-types.ts'
import { isObject } from '../sdk.ts'
import type { Compactor, SummarizeOptions } from './chat-types.ts'

const KEEP_TURNS = 4
/** How many messages of the present turn stay when it alone is too long. */
const KEEP_STEPS = 4
const MAX_PART_LENGTH = 4_000

const INSTRUCTIONS = `Summarize the conversation below for the assistant that continues it.
Keep facts, names, numbers, identifiers, decisions, promises, open questions and the results of tools that may be needed again.
Write plain text and nothing else.`

/** Lets a model summarize everything but the newest turns. The call of the model is part of the recorded compaction. */
export const createSummarize =
  (durable: () => Durable) =>
  ({ model, keepTurns = KEEP_TURNS, instructions = INSTRUCTIONS }: SummarizeOptions): Compactor => {
    if (!Number.isInteger(keepTurns) || keepTurns < 1) {
      throw new TypeError('summarize: keepTurns must be a whole number of at least 1')
    }
    return async (messages) => {
      const { older, kept } = divide(messages, keepTurns)
      if (older.length === 0) return [...messages]
      const content = `${instructions}\n\n<conversation>\n${older.map(toText).join('\n')}\n</conversation>`
      const { text } = await durable().generateText({ model, messages: [{ role: 'user', content }] })
      return [{ role: 'user', content: `Summary of the conversation so far:\n${text}` }, ...kept]
    }
  }

interface Divided {
  readonly older: readonly ModelMessage[]
  readonly kept: readonly ModelMessage[]
}

/** Keeps fewer turns where so many are the whole conversation, and at last only the question and the end of the present one. */
function divide(messages: readonly ModelMessage[], keepTurns: number): Divided {
  const questions = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []))
  for (let turns = keepTurns; turns > 0; turns--) {
    const start = questions.at(-turns)
    if (start !== undefined && hasMoreThanSummary(messages.slice(0, start))) {
      return { older: messages.slice(0, start), kept: messages.slice(start) }
    }
  }
  const question = questions.at(-1) ?? -1
  const end = endOfSteps(messages, question + 1)
  return {
    older: [...messages.slice(0, question + 1), ...messages.slice(question + 1, end)],
    kept: [...messages.slice(Math.max(question, 0), question + 1), ...messages.slice(end)],
  }
}

/** One message alone can be the summary that was made before. */
const hasMoreThanSummary = (messages: readonly ModelMessage[]): boolean =>
  messages.filter(({ role }) => role !== 'system').length > 1

/** Calls stay together with their results, so what is kept begins with an answer of the model. */
function endOfSteps(messages: readonly ModelMessage[], from: number): number {
  for (let end = messages.length - KEEP_STEPS; end > from; end--) if (messages[end]?.role === 'assistant') return end
  return from
}

function toText({ role, content }: ModelMessage): string {
  const parts = typeof content === 'string' ? [content] : (content as readonly unknown[]).map(partText)
  return `${role}: ${parts.filter((part) => part !== '').join('\n')}`
}

function partText(part: unknown): string {
  if (!isObject(part)) return ''
  const { type, text, toolName, input, output, mediaType, filename } = part
  switch (type) {
    case 'text':
      return cut(text)
    case 'tool-call':
      return `[calls ${toolName} with ${cut(JSON.stringify(input))}]`
    case 'tool-result':
      return `[${toolName} returned ${cut(JSON.stringify(isObject(output) && 'value' in output ? output.value : output))}]`
    case 'file':
      return `[a file ${[filename, mediaType].filter((one) => one !== undefined).join(', ')}]`
    case 'image':
      return '[an image]'
    default:
      return ''
  }
}

function cut(text: unknown): string {
  const whole = String(text ?? '')
  return whole.length <= MAX_PART_LENGTH
    ? whole
    : `${whole.slice(0, MAX_PART_LENGTH)} [${whole.length} characters in all]`
}
