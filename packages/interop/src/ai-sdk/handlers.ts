import { perdureError } from '@perdure/ports'
import { toChatCall } from '../chat/chat-call.ts'
import type { Handlers } from '../handlers.ts'
import { type AiSdkDeps, createAiSdk } from './create-ai-sdk.ts'

/** `/agents/:agentId/chat`: the UI message stream of the AI SDK. */
export function aiSdkHandlers(deps: AiSdkDeps): Handlers<'aiSdk'> {
  const aiSdk = createAiSdk(deps)
  return {
    sendChat: (call) => aiSdk.send(toChatCall(call), call.body, call.query),
    streamChat: (call) => aiSdk.stream(toChatCall(call), call.params.chatId, call.query),
    openChatSocket() {
      throw perdureError('validation-failed', {
        message: 'this route accepts only POST and WebSocket upgrades',
        hint: 'to follow a chat, use GET /agents/:agentId/chat/:chatId/stream',
      })
    },
    async listChatMessages(call) {
      return { status: 200, body: await aiSdk.messages(toChatCall(call), call.params.chatId) }
    },
    async listChatQueue(call) {
      return { status: 200, body: await aiSdk.queue(toChatCall(call), call.params.chatId, call.query) }
    },
    stopChat: (call) => aiSdk.stop(toChatCall(call), call.params.chatId),
  }
}
