import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'

export interface FoundRegex {
  readonly path: string
  readonly line: number
  readonly source: string
  readonly flags: string
}

/** The regular expression literals of a module, and how many expressions it builds at run time. */
export interface RegexUse {
  readonly literals: readonly FoundRegex[]
  readonly built: number
}

interface AstNode {
  readonly type: string
  readonly start: number
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly callee?: { readonly type: string; readonly name?: string }
}

/** Collects the regular expressions of a TypeScript module from its syntax tree. */
export function regexUseOf(path: string, text = readFileSync(path, 'utf8')): RegexUse {
  const literals: FoundRegex[] = []
  let built = 0

  const note = ({ type, regex, callee, start }: AstNode): void => {
    if (type === 'Literal' && regex !== undefined) {
      const line = text.slice(0, start).split('\n').length
      literals.push({ path, line, source: regex.pattern, flags: regex.flags })
    }
    if (callee?.name === 'RegExp') built++
  }

  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('type' in node) note(node as AstNode)
    for (const member of Object.values(node)) visit(member)
  }

  visit(parseAst(text, { lang: 'ts' }, path))
  return { literals, built }
}

/** Returns the regular expressions built at run time while `work` runs. */
export async function builtDuring(work: () => Promise<unknown>): Promise<readonly RegExp[]> {
  const Original = globalThis.RegExp
  const built: RegExp[] = []
  globalThis.RegExp = new Proxy(Original, {
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget) as RegExp
      built.push(made)
      return made
    },
  })
  try {
    await work()
  } finally {
    globalThis.RegExp = Original
  }
  return built
}
