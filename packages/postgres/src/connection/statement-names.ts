import { hash } from 'node:crypto'

/** Upper limit for prepared statements on one connection. Beyond it, a statement is planned at each execution. */
const MAX_NAMES = 512

/** Names each text, so that the server prepares it once per connection. */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= MAX_NAMES) return known
    const name = hash('sha1', text, 'base64url')
    names.set(text, name)
    return name
  }
}
