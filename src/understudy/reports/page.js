// Filters and copies, and unfolds everything for the printer; the page reads whole without it.
const rules=[...document.querySelectorAll(".rule")],input=document.querySelector("#filter");
if(input){document.querySelector("#tools").hidden=rules.length<2;
input.addEventListener("input",()=>{for(const rule of rules)
rule.hidden=!rule.textContent.toLowerCase().includes(input.value.toLowerCase())})}
for(const text of document.querySelectorAll("pre.commands")){const button=document.createElement("button");
button.textContent="Copy";const box=document.createElement("div");box.className="copied";
text.replaceWith(box);box.append(text,button);button.addEventListener("click",async()=>{
await navigator.clipboard.writeText(text.textContent);button.textContent="Copied"})}
let closed=[];addEventListener("beforeprint",()=>{closed=[...document.querySelectorAll("details:not([open])")];
for(const one of closed)one.open=true});
addEventListener("afterprint",()=>{for(const one of closed)one.open=false});
