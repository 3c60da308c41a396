import { TOOLS, type ToolName } from '../tooling/machine-tools.ts'
import type { GuideBlock } from './guide-blocks.ts'

/** A word in the position of a command, after keywords and assignments of variables. */
const COMMAND =
  /(?:^|[|;&(`]|[!{](?=\s))[ \t]*(?:(?:if|then|do|else|elif|while|until)[ \t]+|[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s;|&()])*[ \t]+)*([a-z_][\w.-]*)(?![\w.=-])/gm
const SUBSTITUTION = /\$\([^)]*\)/g

/** Returns the commands of a shell script: programs, builtins, functions, and some keywords. */
export function commandsIn(script: string): readonly string[] {
  const code = withoutTexts(script.replaceAll('\\\n', ' ').replaceAll(/<<-?\s*'?(\w+)'?.*?\n\1\n/gs, '\n'))
  const parts = [code, ...(code.match(SUBSTITUTION) ?? [])]
  return [...new Set(parts.flatMap((part) => [...part.matchAll(COMMAND)].map(([, word = '']) => word)))]
}

/** Removes quoted texts. In one with double quotes, the shell executes the substitutions, which may have texts in turn. */
function withoutTexts(script: string): string {
  const open: ('"' | '$(')[] = []
  let code = ''
  for (let at = 0; at < script.length; ) {
    const isText = open.at(-1) === '"'
    const part = (isText ? IN_TEXT : IN_CODE).exec(script.slice(at))?.[0] ?? ''
    at += part.length
    if (part === '$(' || (part === '"' && !isText)) open.push(part)
    else if (part === (isText ? '"' : ')')) open.pop()
    if (!isText || part === '$(') code += part.startsWith("'") ? "''" : part
  }
  return code
}

const IN_TEXT = /^(?:\\.|\$\(|.)/s
const IN_CODE = /^(?:\\.|\$\(|'[^']*'|.)/s

/** The shell scripts of a guide that are executed. */
export const scriptsOf = (blocks: readonly GuideBlock[]): readonly string[] =>
  blocks.flatMap(({ language, skip, file, more, text }) =>
    language === 'sh' && skip === undefined && file === undefined && more === undefined ? [text] : [],
  )

/** The tools of the machine that a guide needs: those of the shell that executes it, and those that its blocks use. */
export function toolsOf(blocks: readonly GuideBlock[]): readonly ToolName[] {
  const scripts = scriptsOf(blocks)
  const used = new Set(['bash', 'pkill', ...scripts.flatMap(commandsIn)])
  if (scripts.some((script) => script.includes('$DATABASE_URL'))) used.add('postgres')
  return (Object.keys(TOOLS) as ToolName[]).filter((name) => used.has(name))
}
