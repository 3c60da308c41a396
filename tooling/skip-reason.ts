/** Marks the title of a suite or test that is skipped because a tool is missing. */
export const markOf = (tool: string) => `[needs ${tool}]`

/** The reason in the title of a skipped test; `undefined` for a test that `needsTool` did not skip. */
export function missingToolIn(title: string): string | undefined {
  const tool = /\[needs (?<tool>[^\]]+)\]/.exec(title)?.groups?.tool
  return tool === undefined ? undefined : `${tool} is missing`
}
