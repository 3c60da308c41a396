import { OPERATOR_ID } from '@perdure/protocol'
import { parse } from 'yaml'

/** The content of a `SKILL.md`. */
export interface SkillDocument {
  readonly name: string
  readonly description: string
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly instructions: string
}

const OPENING = /^\uFEFF?---[ \t]*\r?\n/
const CLOSING = /^---[ \t]*\r?$/m
const MAX_DESCRIPTION = 1_024
const MAX_FRONT_MATTER = 65_536
const MAX_ALIASES = 100

/** Parses the text of a `SKILL.md` in a folder of this name. @throws Error with the reason why it is invalid */
export function parseSkillDocument(text: string, folder: string): SkillDocument {
  const parts = splitDocument(text)
  if (parts === undefined) throw new Error('SKILL.md does not begin with front matter between two --- lines')
  const { name, description, ...rest } = parseFrontMatter(parts.frontMatter)
  if (typeof name !== 'string' || !OPERATOR_ID.test(name)) {
    throw new Error('name: must start with a letter or digit and contain at most 128 letters, digits, "_" or "-"')
  }
  if (name !== folder) throw new Error(`name: is ${name}, but the skill folder is named ${folder}`)
  if (typeof description !== 'string' || description.trim() === '' || description.length > MAX_DESCRIPTION) {
    throw new Error(`description: must be a string of 1 to ${MAX_DESCRIPTION} characters`)
  }
  return {
    name,
    description,
    ...(Object.keys(rest).length === 0 ? {} : { metadata: rest }),
    instructions: parts.rest.replace(/^\r?\n/, ''),
  }
}

/** Splits the text into the front matter between the `---` lines and the rest. */
function splitDocument(text: string): { readonly frontMatter: string; readonly rest: string } | undefined {
  const opening = OPENING.exec(text)
  const body = text.slice(opening?.[0].length ?? 0)
  const closing = CLOSING.exec(body)
  if (opening === null || closing === null) return undefined
  return {
    frontMatter: body.slice(0, closing.index),
    rest: body.slice(closing.index + closing[0].length).replace(/^\n/, ''),
  }
}

function parseFrontMatter(text: string): Record<string, unknown> {
  if (text.length > MAX_FRONT_MATTER) throw new Error(`the front matter is longer than ${MAX_FRONT_MATTER} characters`)
  let parsed: unknown
  try {
    // The JSON round trip leaves only plain data: no dates, no cycles, no prototypes.
    parsed = JSON.parse(JSON.stringify(parse(text, { maxAliasCount: MAX_ALIASES })) ?? 'null')
  } catch (error) {
    throw new Error(`the front matter is not valid YAML: ${(error as Error).message.split('\n')[0]}`, { cause: error })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Error('the front matter is not a mapping')
  }
  return parsed as Record<string, unknown>
}
