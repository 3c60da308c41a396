import type { TokenStore, WebhookStore } from '@perdure/ports'
import { createCurrentTokens } from './current-token.ts'

export interface WebhooksOfTokenDeps {
  readonly tokens: Pick<TokenStore, 'find' | 'findMany'>
  readonly webhooks: Pick<WebhookStore, 'list'>
}

/** The ids of the enabled webhooks that have the rights of the token, or of a token that was minted with it. */
export async function webhooksOfToken(
  { tokens, webhooks }: WebhooksOfTokenDeps,
  tokenId: string,
): Promise<readonly string[]> {
  const enabled = (await webhooks.list()).filter(
    ({ source, disabledAt }) => source === 'api' && disabledAt === undefined,
  )
  const owners = [...new Set(enabled.flatMap(({ createdByToken }) => createdByToken ?? []))]
  if (owners.length === 0) return []
  const current = await createCurrentTokens(tokens)(owners)
  const isWithin = async (owner: string): Promise<boolean> => {
    let token = current.get(owner)
    while (token !== undefined && token.id !== tokenId) {
      token = token.parentId === undefined ? undefined : await tokens.find(token.parentId)
    }
    return token !== undefined
  }
  const affected = new Set<string>()
  for (const owner of owners) if (await isWithin(owner)) affected.add(owner)
  return enabled.filter(({ createdByToken = '' }) => affected.has(createdByToken)).map(({ id }) => id)
}
