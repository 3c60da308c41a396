import type { ChatInput, KeyedRequest } from '@perdure/core'
import type { ChatCall } from '../chat/chat-call.ts'
import { chatInput } from '../chat/chat-input.ts'
import { MESSAGE_ID } from '../chat/chat-session.ts'
import { withStoredFiles } from '../chat/stored-files.ts'
import { unsentMessages } from '../chat/unsent-messages.ts'
import { type AgUiRequestBody, newMessages, toChatMessage } from './request.ts'
import { claimed, claimedIn, claimsOf, runIdentity, type StartTurnDeps } from './start-turn.ts'

/** The messages that no request has passed to the agent before, as the input of a run that waits for it, and the key of the request. */
export async function newInput(
  deps: StartTurnDeps,
  call: ChatCall,
  body: AgUiRequestBody,
  sessionId: string,
): Promise<{ readonly input: ChatInput; readonly key: KeyedRequest }> {
  const { agentId, visibility, principal } = call
  const sent = newMessages(body.messages)
  const claims = claimsOf(deps, call, body)
  const unsent = await unsentMessages(
    deps,
    { agentId, sessionId, visibility },
    {
      ...{ messages: sent.map(toChatMessage), member: MESSAGE_ID, replacedId: undefined },
      isTaken: (message) => claims.isTaken(claimedIn(sent, message)),
    },
  )
  const input = chatInput(deps, await withStoredFiles(deps, unsent, { principal, isChat: true, sessionId }))
  const last = sent.at(-1)
  const claim = last === undefined ? undefined : await claims.of(claimed(last))
  const earlier = await claims.ofEarlier(input.messages, sent.map(claimed))
  const includes = [...(claim === undefined ? [] : [claim]), ...earlier]
  return { input, key: { ...(await runIdentity(deps, call, body)), includes } }
}
