import type { LanguageModel } from 'ai'
import { type Answer, answerParts, type ScriptedAnswer, textOf, wordsIn } from './scripted-answer.ts'

/** What the model is asked. */
export interface ScriptedCall {
  /** The number of answers before this one in the conversation, from 0. */
  readonly turn: number
  /** The text of the newest message of the user. */
  readonly text: string
  /** The results of the tools that were called since then, oldest first. */
  readonly toolResults: readonly { readonly toolName: string; readonly output: unknown }[]
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[]
  /** The whole prompt, as the provider gets it. */
  readonly prompt: readonly PromptMessage[]
}

export interface PromptMessage {
  readonly role: string
  readonly content: unknown
}

export interface ScriptedModelOptions {
  /** Milliseconds before each word of a stream. Default 0. */
  readonly wordDelayMs?: number
  /** Default `scripted`. */
  readonly modelId?: string
  /** Called with each question to the model. */
  readonly onCall?: (call: ScriptedCall) => void
}

type ScriptedLanguageModel = Extract<LanguageModel, { readonly specificationVersion: 'v3' }>

/**
 * A language model that answers from a script, for tests, examples and guides without a key. It streams word by word. The
 * answer follows from the prompt alone, so it is the same after a restart: the first answer of a conversation is the first
 * of `turns`, and so on. A function computes each answer.
 *
 * @param turns the answers of the conversation, or a function that makes each
 */
export function scriptedModel(
  turns: readonly ScriptedAnswer[] | ((call: ScriptedCall) => ScriptedAnswer),
  { wordDelayMs = 0, modelId = 'scripted', onCall }: ScriptedModelOptions = {},
): ScriptedLanguageModel {
  const answerTo = (options: Asked): Answer => {
    const call = callOf(options)
    onCall?.(call)
    const answer = typeof turns === 'function' ? turns(call) : turns[call.turn]
    if (answer === undefined) throw new Error(`the script of the model has no answer ${call.turn + 1}`)
    return answerParts(answer, {
      turn: call.turn,
      inputWords: wordsIn(JSON.stringify(options.prompt, withoutBytes)).length,
    })
  }
  const model = {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId,
    supportedUrls: { '*/*': [/.*/] },
    async doGenerate(options: Asked) {
      const { content, finish } = answerTo(options)
      return { content, ...finish, warnings: [] }
    },
    async doStream(options: Asked) {
      const { parts, finish } = answerTo(options)
      async function* streamed() {
        yield { type: 'stream-start', warnings: [] }
        for (const part of parts) {
          if (wordDelayMs > 0 && 'delta' in part) await new Promise((resolve) => setTimeout(resolve, wordDelayMs))
          yield part
        }
        yield { type: 'finish', ...finish }
      }
      return { stream: ReadableStream.from(streamed()) }
    },
  }
  return model as unknown as ScriptedLanguageModel
}

interface Asked {
  readonly prompt: readonly PromptMessage[]
  readonly tools?: readonly { readonly name: string }[] | undefined
}

function callOf({ prompt, tools = [] }: Asked): ScriptedCall {
  const lastUser = prompt.findLastIndex(({ role }) => role === 'user')
  return {
    turn: prompt.filter(({ role }) => role === 'assistant').length,
    text: textOf(prompt[lastUser]?.content),
    toolResults: prompt.slice(lastUser + 1).flatMap(({ role, content }) => (role === 'tool' ? resultsIn(content) : [])),
    tools: tools.map(({ name }) => name),
    prompt,
  }
}

const resultsIn = (content: unknown): ScriptedCall['toolResults'] =>
  (Array.isArray(content) ? content : []).flatMap(({ type, toolName, output }) => {
    if (type !== 'tool-result') return []
    const { value, reason } = output as { readonly value?: unknown; readonly reason?: unknown }
    return [{ toolName, output: value ?? reason ?? null }]
  })

/** The bytes of files have no words, and as JSON they would be many times as long. */
const withoutBytes = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? undefined : value)
