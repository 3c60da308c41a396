import { createSlackAdapter } from '@chat-adapter/slack'
import { Chat, ConsoleLogger } from 'chat'
import type { ChatBridge, chatBridge } from './bridge/chat-bridge.ts'
import type { perdureState } from './state/perdure-state.ts'

interface BotDeps {
  readonly chatBridge: typeof chatBridge
  readonly perdureState: typeof perdureState
  readonly apiUrl: string
  readonly agent: string
}

/** A bot for Slack whose agent answers, made of the given build of the bridge. */
export function createSlackBot({ chatBridge, perdureState, apiUrl, agent }: BotDeps): ChatBridge {
  const adapter = createSlackAdapter({
    ...{ botToken: 'xoxb-test', apiUrl, logger: new ConsoleLogger('silent') },
    webhookVerifier: (request) => bridge.webhookVerifier(request),
  })
  const chat = new Chat({
    ...{ userName: 'perdure', adapters: { slack: adapter }, state: perdureState(), logger: 'silent' },
  })
  const bridge: ChatBridge = chatBridge({
    ...{ chat, agent, updateIntervalMs: 20 },
    hooks: { slack: { verify: 'slack', secretRef: 'env:SLACK_SIGNING_SECRET' } },
  })
  return bridge
}
