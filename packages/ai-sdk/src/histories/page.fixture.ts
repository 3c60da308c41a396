import type { World } from './server-world.fixture.ts'

export interface UiPart {
  readonly type: string
  readonly text?: string
  readonly url?: string
  readonly state?: string
  readonly toolName?: string
  readonly parts?: readonly UiPart[]
}

export interface UiMessage {
  readonly id: string
  readonly role: string
  readonly parts: readonly UiPart[]
}

/** What a page shows of a chat after a reload, with the contents of its files. */
export function createPage(world: Pick<World, 'call'>, agentId: string) {
  const contentOf = async (url: string): Promise<string> => {
    const { status, bytes } = await world.call({ method: 'GET', path: url.replace(/^.*\/v1\//, '/') })
    return status === 200 ? new TextDecoder().decode(bytes).trimEnd() : `${status} for ${url}`
  }
  const linesOfPart = async (role: string, part: UiPart): Promise<readonly string[]> => {
    const { type, text, url = '', toolName, parts = [] } = part
    if (type === 'text') return [`${role[0]} ${text}`]
    if (type === 'file') return [`f ${await contentOf(url)}`]
    if (type === 'steering-message') return linesOfAll('user', parts)
    return type.startsWith('tool-') || type === 'dynamic-tool' ? [`c ${toolName ?? type.slice(5)}`] : []
  }
  const linesOfAll = async (role: string, parts: readonly UiPart[]): Promise<readonly string[]> => {
    const lines: string[] = []
    for (const part of parts) lines.push(...(await linesOfPart(role, part)))
    return lines
  }
  const messages = async (chatId: string): Promise<readonly UiMessage[]> => {
    const { status, bytes } = await world.call({ method: 'GET', path: `/agents/${agentId}/chat/${chatId}/messages` })
    return status === 200 ? JSON.parse(new TextDecoder().decode(bytes)) : []
  }
  const textOf = ({ parts }: UiMessage): string => parts.find(({ type }) => type === 'text')?.text ?? ''
  return {
    messages,
    textOf,
    /** The text of the user that comes last before this message. */
    before: (shown: readonly UiMessage[], message: UiMessage): string => {
      const user = shown.slice(0, shown.indexOf(message)).findLast(({ role }) => role === 'user')
      return user === undefined ? '' : textOf(user)
    },
    async linesOf(shown: readonly UiMessage[]): Promise<readonly string[]> {
      const lines: string[] = []
      for (const { role, parts } of shown) lines.push(...(await linesOfAll(role, parts)))
      return lines
    },
  }
}
