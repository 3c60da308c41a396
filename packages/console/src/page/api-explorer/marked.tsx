/** A description of the document: text in backticks is code, and an empty line ends a paragraph. */
export function Marked({ text = '' }: { readonly text?: string | undefined }) {
  return (
    <>
      {text.split('\n\n').map((paragraph, at) => (
        <span key={String(at)} class="paragraph">
          {paragraph
            .split('`')
            .map((part, index) => (index % 2 === 1 ? <code key={String(index)}>{part}</code> : part))}
        </span>
      ))}
    </>
  )
}
