export const titleOf = (markdown: string): string => /^# (.*)$/m.exec(markdown)?.[1] ?? ''

/** The first sentence of the first paragraph after the title, with links replaced by their text. */
export function firstSentence(markdown: string): string {
  const paragraphs = markdown.replace(/^.*?^# .*?$/ms, '').split(/\n{2,}/)
  const text = paragraphs.map((paragraph) => paragraph.trim()).find((paragraph) => /^[\w`*[]/.test(paragraph)) ?? ''
  const plain = text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replace(/\s+/g, ' ')
  return /^.*?[.!?](?= [A-Z*`(]|$)/.exec(plain)?.[0] ?? plain.replace(/:$/, '.')
}
