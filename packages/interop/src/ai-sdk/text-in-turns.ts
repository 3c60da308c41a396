import { isFields } from '@perdure/core'
import { createPauses, type YieldTurn } from '@perdure/ports'

/** The body of a request, its messages, one of them, and its parts. */
const LEVELS = 4

/** The JSON text of the body of a chat request, written part by part in turns. */
export async function textInTurns(body: object, yieldTurn: YieldTurn): Promise<string> {
  const pause = createPauses(yieldTurn)

  const write = async (value: unknown, level: number): Promise<string | undefined> => {
    if (level < LEVELS && Array.isArray(value)) return `[${await writeAll(value, level)}]`
    if (level < LEVELS && isFields(value)) return `{${await writeMembers(value, level)}}`
    await pause()
    return JSON.stringify(value)
  }

  const writeAll = async (items: readonly unknown[], level: number): Promise<string> => {
    const texts: string[] = []
    for (const item of items) texts.push((await write(item, level + 1)) ?? 'null')
    return texts.join(',')
  }

  const writeMembers = async (fields: object, level: number): Promise<string> => {
    const texts: string[] = []
    for (const [name, value] of Object.entries(fields)) {
      const text = await write(value, level + 1)
      if (text !== undefined) texts.push(`${JSON.stringify(name)}:${text}`)
    }
    return texts.join(',')
  }

  return (await write(body, 0)) ?? '{}'
}
