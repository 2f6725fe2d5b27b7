-- A quoted statement ("> **Theorem 1.** ...") becomes a box on the site and stays a quote in JupyterLab.
local kinds = {
  Theorem = true, Proposition = true, Lemma = true, Corollary = true,
  Definition = true, Warning = true,
}

function BlockQuote(el)
  local first = el.content[1] and el.content[1].content and el.content[1].content[1]
  if first and first.t == "Strong" then
    local kind = pandoc.utils.stringify(first):match("^(%a+)")
    if kinds[kind] then
      return pandoc.Div(el.content, pandoc.Attr("", { "statement", kind:lower() }))
    end
  end
end
