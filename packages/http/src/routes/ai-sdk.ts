import type { aiSdkOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { ProtocolCall, UseCases } from '../http-app-deps.ts'

/** `/agents/:agentId/chat`: the UI message stream of the AI SDK. */
export const aiSdkRoutes = ({ aiSdk }: Pick<UseCases, 'aiSdk'>): Handlers<typeof aiSdkOperations> => ({
  sendChat: (call) => aiSdk.send(toProtocolCall(call), call.body, call.query.v),
  streamChat: (call) => aiSdk.stream(toProtocolCall(call), call.params.chatId, call.query.v),
  async listChatMessages(call) {
    return { status: 200, body: await aiSdk.messages(toProtocolCall(call), call.params.chatId) }
  },
  stopChat: (call) => aiSdk.stop(toProtocolCall(call), call.params.chatId),
})

export const toProtocolCall = ({
  params: { agentId },
  principal,
  visibility,
  key,
  traceparent,
  hangUp,
  lastEventId,
}: Omit<ProtocolCall, 'agentId'> & { readonly params: { readonly agentId: string } }): ProtocolCall => ({
  ...{ agentId, principal, visibility, key, traceparent, hangUp, lastEventId },
})
