import { HttpAgent } from '@ag-ui/client'
import { WorkflowChatTransport } from '@ai-sdk/workflow/client'
import { ChatClient, type ChatClientOptions, fetchServerSentEvents } from '@tanstack/ai-client'
import { HttpAgent as OlderHttpAgent } from 'ag-ui-client-0'
import {
  type ChatTransport,
  DefaultChatTransport,
  readUIMessageStream,
  type UIMessage,
  WebSocketChatTransport,
} from 'ai'
import { DefaultChatTransport as DefaultChatTransport6 } from 'ai6'
import OpenAI from 'openai'
import { createClient } from '../../packages/client/src/index.ts'

export interface SentFile {
  readonly name: string
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Sends one message of a conversation, and resolves when it is answered. */
export type Say = (text: string, ...files: readonly SentFile[]) => Promise<unknown>

export interface Sender {
  /** Begins a conversation with the agent `see`. @param url the address of the API */
  open(url: string): Promise<Say>
  /** The names that the protocol cannot transport. */
  readonly namesNo?: 'image'
}

const base64 = ({ bytes }: SentFile) => Buffer.from(bytes).toString('base64')
export const dataUrl = (file: SentFile) => `data:${file.mediaType};base64,${base64(file)}`
const isImage = ({ mediaType }: SentFile) => mediaType.startsWith('image/')

let conversations = 0
const newId = () => `files-${++conversations}`

const text = (content: string) => ({ type: 'text', text: content }) as const
const pagePart = (url: string, { mediaType, name }: SentFile) =>
  ({ type: 'file', mediaType, url, filename: name }) as const

const transported = (create: (api: string) => ChatTransport<UIMessage>): Sender => ({
  async open(url) {
    const transport = create(`${url}/agents/see/chat`)
    const chatId = newId()
    const messages: UIMessage[] = []
    return async (question, ...files) => {
      const id = `${chatId}-${messages.length}`
      const parts = [text(question), ...files.map((file) => pagePart(dataUrl(file), file))]
      messages.push({ id, role: 'user', parts })
      const sent = {
        chatId,
        messages,
        trigger: 'submit-message',
        messageId: undefined,
        abortSignal: undefined,
      } as const
      const stream = await transport.sendMessages(sent)
      let answer: UIMessage | undefined
      for await (const one of readUIMessageStream({ stream, terminateOnError: true })) answer = one
      if (answer !== undefined) messages.push(answer)
    }
  },
})

const rest = (partOf: (client: ReturnType<typeof createClient>, file: SentFile) => Promise<object>): Sender => ({
  async open(url) {
    const client = createClient({ baseUrl: url })
    const { id: sessionId } = await client.sessions.create()
    return async (question, ...files) => {
      const parts = [text(question), ...(await Promise.all(files.map((file) => partOf(client, file))))]
      await client.agents.run('see', { input: { messages: [{ role: 'user', parts }] }, sessionId })
    }
  },
})

const openai = (begin: (client: OpenAI) => Say | Promise<Say>, more: Pick<Sender, 'namesNo'> = {}): Sender => ({
  ...more,
  open: async (url) => begin(new OpenAI({ baseURL: `${url}/openai`, apiKey: 'none', maxRetries: 0 })),
})

const completionPart = (file: SentFile) =>
  ({ type: 'file', file: { file_data: dataUrl(file), filename: file.name } }) as const
const completionImage = (file: SentFile) =>
  isImage(file) ? ({ type: 'image_url', image_url: { url: dataUrl(file) } } as const) : completionPart(file)

const completions =
  (partOf: (file: SentFile) => OpenAI.Chat.ChatCompletionContentPart, isChat: boolean) =>
  ({ chat }: OpenAI): Say => {
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = []
    const metadata = isChat ? { session_id: newId() } : null
    return async (question, ...files) => {
      messages.push({ role: 'user', content: [text(question), ...files.map(partOf)] })
      const { choices } = await chat.completions.create({ model: 'see', messages, metadata })
      messages.push({ role: 'assistant', content: choices[0]?.message.content ?? '' })
    }
  }

const responsePart = (file: SentFile) =>
  ({ type: 'input_file', file_data: dataUrl(file), filename: file.name }) as const
const responseImage = (file: SentFile) =>
  isImage(file) ? ({ type: 'input_image', image_url: dataUrl(file), detail: 'auto' } as const) : responsePart(file)

const responses =
  (partOf: (file: SentFile) => OpenAI.Responses.ResponseInputContent) =>
  ({ responses: api }: OpenAI): Say => {
    let previous: string | null = null
    return async (question, ...files) => {
      const content = [{ type: 'input_text', text: question } as const, ...files.map(partOf)]
      const response: OpenAI.Responses.Response = await api.create({
        ...{ model: 'see', input: [{ role: 'user', content }], previous_response_id: previous },
      })
      previous = response.id
    }
  }

const agUiType = (file: SentFile) => (isImage(file) ? ('image' as const) : ('document' as const))
const agUiPart = (file: SentFile) => ({
  type: agUiType(file),
  source: { type: 'data' as const, value: base64(file), mimeType: file.mediaType },
  metadata: { filename: file.name },
})

/** @param member where the text of a part is: `content` in messages of TanStack */
export const agUiContent = (question: string, files: readonly SentFile[], member: 'text' | 'content' = 'text') =>
  [{ type: 'text', [member]: question }, ...files.map(agUiPart)] as never

export const openTanStack = (url: string, threadId: string, more: Pick<ChatClientOptions, 'persistence'> = {}) =>
  new ChatClient({ threadId, ...more, connection: fetchServerSentEvents(`${url}/agents/see/ag-ui`) })

const binaryPart = (file: SentFile) => ({
  ...{ type: 'binary' as const, mimeType: file.mediaType, data: base64(file), filename: file.name },
})

const agUi = (
  create: (url: string) => Pick<HttpAgent, 'addMessage' | 'runAgent'>,
  partOf: (file: SentFile) => object,
) => ({
  async open(url: string): Promise<Say> {
    const agent = create(`${url}/agents/see/ag-ui`)
    return async (question, ...files) => {
      const content = [text(question), ...files.map(partOf)]
      agent.addMessage({ id: newId(), role: 'user', content: content as never })
      await agent.runAgent()
    }
  },
})

export const FILE_SENDERS: Readonly<Record<string, Sender>> = {
  'DefaultChatTransport of version 7': transported((api) => new DefaultChatTransport({ api })),
  'DefaultChatTransport of version 6': transported(
    (api) => new DefaultChatTransport6({ api }) as unknown as ChatTransport<UIMessage>,
  ),
  WorkflowChatTransport: transported(
    (api) => new WorkflowChatTransport({ api }) as unknown as ChatTransport<UIMessage>,
  ),
  WebSocketChatTransport: transported((url) => new WebSocketChatTransport({ url })),
  'the typed client, which has uploaded the files,': rest(async (client, file) => {
    const { bytes, mediaType: type, name: filename } = file
    const { id } = await client.files.upload(new Blob([bytes], { type }), { filename })
    return pagePart(`/v1/files/${id}`, file)
  }),
  'the typed client, which sends them in its input,': rest(async (_, file) => pagePart(dataUrl(file), file)),
  'an AG-UI client': agUi((url) => new HttpAgent({ url }), agUiPart),
  'an AG-UI client before 1.0': agUi((url) => new OlderHttpAgent({ url }) as never, agUiPart),
  'an AG-UI client with binary parts': agUi((url) => new OlderHttpAgent({ url }) as never, binaryPart),
  'the client of TanStack': {
    async open(url) {
      const client = openTanStack(url, newId())
      return (question, ...files) => client.sendMessage({ content: agUiContent(question, files, 'content') })
    },
  },
  'Chat Completions': openai(completions(completionPart, false)),
  'Chat Completions with images': openai(completions(completionImage, false), { namesNo: 'image' }),
  'Chat Completions in a session': openai(completions(completionPart, true)),
  Responses: openai(responses(responsePart)),
  'Responses with images': openai(responses(responseImage), { namesNo: 'image' }),
}
