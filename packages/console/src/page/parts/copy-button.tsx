import { useContext, useState } from 'preact/hooks'
import { Context } from '../app-context.ts'

/** Copies a text; where the browser has no clipboard (plain HTTP), selects it in a dialog of the browser. */
export function CopyButton({ text, children }: { readonly text: () => string; readonly children: string }) {
  const app = useContext(Context)
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      if (app === undefined) setCopied(true)
      else app.notify('Copied')
    } catch {
      prompt('Copy this text:', text())
    }
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {isCopied ? 'Copied' : children}
    </button>
  )
}
